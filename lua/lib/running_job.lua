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

-- Tokens and entries of runs that began in this call, tokens and locks of those that ended.
local new_runs, old_runs, old_locks

local function begin_runs()
  new_runs, old_runs, old_locks = {}, {}, {}
end

local function enter_run(token, tenant, id, permit, tat, jtat, type_tat, finish, started)
  local n = #new_runs
  new_runs[n + 1] = token
  new_runs[n + 2] = tenant .. ' ' .. id .. ' ' .. permit .. struct.pack(MARKS, tat, jtat, type_tat, finish, started)
end

-- The lock goes at once where the job may run again within this call, under a new one.
local function leave_run(token, lock, may_go_on)
  old_runs[#old_runs + 1] = token
  if may_go_on then call('DEL', lock) else old_locks[#old_locks + 1] = lock end
end

local function keep_runs()
  if new_runs[1] then call('HSET', key_running, unpack(new_runs)) end
  if old_runs[1] then call('HDEL', key_running, unpack(old_runs)) end
  if old_locks[1] then call('DEL', unpack(old_locks)) end
end

-- Does some work and writes which runs it began and ended, even where it fails: nobody else knows of them.
local function with_runs(work, ...)
  local is_done, reply = pcall(work, ...)
  keep_runs()
  if not is_done then error(reply, 0) end
  return reply
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

-- The same where the entry is of this job; nil where it is not.
function permit.of_run(entry, tenant, id)
  local name = tenant .. ' ' .. id .. ' '
  if not entry or string.sub(entry, 1, #name) ~= name then return nil end
  return string.sub(entry, #name + 1, #entry - MARKS_BYTES)
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
