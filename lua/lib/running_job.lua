--[[
  What …:running holds under the token of a run: its tenant, its job and, packed, where its start left the books:
    tat, jtat    of its bucket
    type_tat     of the type
    finish       of its bucket
    started      the instant of that
  Between job and marks stands the permit of the run (lib/permits), where it has one.
  Of what a start put there, only what has not leaked since can come out again, and these marks tell how much that is.
]]
--- @include "lib/bucket"

local MARKS, MARKS_BYTES = '<ddddd', 40

local function enter_run(token, tenant, id, permit, tat, jtat, type_tat, finish, started)
  local marks = struct.pack(MARKS, tat, jtat, type_tat, finish, started)
  call('HSET', key_running, token, tenant .. ' ' .. id .. ' ' .. permit .. marks)
end

local function run_of(entry)
  return string.match(entry, '^(%S+) (%S+) ')
end

-- The permit that the call under way brought, see lib/spread: its id ("": none) and its units; and, by `of`, that of a run. A library
-- may have 200 local names, so these share one.
local permit = { is_needed = false, id = '', units = 0 }

-- "" where the run needed none.
function permit.of(entry)
  local _, ends = string.find(entry, '^%S+ %S+ ')
  return string.sub(entry, ends + 1, #entry - MARKS_BYTES)
end

local function is_run_of(entry, tenant, id)
  local name = tenant .. ' ' .. id .. ' '
  return entry and string.sub(entry, 1, #name) == name
end

local function marks_of(entry)
  local tat, jtat, type_tat, finish, started = struct.unpack(MARKS, entry, #entry - MARKS_BYTES + 1)
  return { tat = tat, jtat = jtat, type_tat = type_tat, finish = finish, started = started }
end

local function started_at(entry)
  return struct.unpack('<d', entry, #entry - 7)
end

-- A running job's hash went missing: there is nothing to run or to end. BullMQ or a late report may have made a new one.
local function drop_missing(b, id)
  call('LREM', b.active_key, '-1', id)
  call('DEL', b.prefix .. id, b.prefix .. id .. ':lock')
end
