--[[
  forward_3: brings what stands under some names of a shard from form 3 of the stored data to form 4. From `begin` to `end` the shard's
  field `format` says "3>4", with which nobody starts. Every call may be repeated, by another process too: what is of form 4 already
  stays as it is. It packs and unpacks by itself: form 4 is what it was, whatever comes after it.

  What form 4 has more:
    type     15 doubles became 20: behind the tenth the weights of all that is ready together, what was measured of runs, and what was served
    bucket   249 bytes became 281: behind 29 doubles what it was served and what its share was, and up to when and where that is counted
    run      32 bytes of marks became 40: the instant at which it started

  FLAGS allow-oom
  ARGV
    what         begin, buckets, runs, end
    names...     buckets: tenants, percent-encoded; runs: tokens
  Returns how many of these names were brought forward; -1, and nothing was written, where the shard is of neither form.
]]
--- @include "lib/clock"

local FROM, UNDER_WAY, TO = '3', '3>4', '4'
local TYPE_BYTES, HELD_END = 120, 80
local WEIGHTS_AT, V_AT = 81, 33
local BUCKET_BYTES, NEW_BUCKET_BYTES, SHARE_AT, FLAGS_AT, WEIGHT_AT = 249, 281, 233, 249, 33
local MARKS_BYTES = 32
local READY = 2

local function bring_type()
  local state = call('HGET', key_type, 's')
  if state and #state == TYPE_BYTES then
    local new = struct.pack('<ddddd', 0, 0, 0, 0, 0)
    call('HSET', key_type, 's', string.sub(state, 1, HELD_END) .. new .. string.sub(state, HELD_END + 1))
  end
end

-- Of a ready bucket the weight counts among those of all that is ready, and its share from here on.
local function bring_buckets(ARGV)
  local old = {}
  for i = 2, #ARGV do
    local key = tag .. ':bucket:' .. ARGV[i]
    local bucket = call('GET', key)
    if bucket and #bucket == BUCKET_BYTES then
      old[#old + 1] = { key = key, bucket = bucket }
    elseif bucket and #bucket ~= NEW_BUCKET_BYTES then
      return -1
    end
  end
  if #old == 0 then return 0 end
  local state = call('HGET', key_type, 's')
  local v, weights = struct.unpack('<d', state, V_AT), struct.unpack('<d', state, WEIGHTS_AT)
  for _, each in ipairs(old) do
    local bucket = each.bucket
    if string.byte(bucket, FLAGS_AT) % 4 == READY then weights = weights + struct.unpack('<d', bucket, WEIGHT_AT) end
    local share = struct.pack('<dddd', 0, 0, 0, v)
    call('SET', each.key, string.sub(bucket, 1, SHARE_AT - 1) .. share .. string.sub(bucket, SHARE_AT))
  end
  call('HSET', key_type, 's',
    string.sub(state, 1, WEIGHTS_AT - 1) .. struct.pack('<d', weights) .. string.sub(state, WEIGHTS_AT + 8))
  return #old
end

-- By what BullMQ wrote in the job's hash; of a job that is gone it does not matter.
local function started_at(tenant, id)
  local ms = tonumber(call('HGET', tag .. ':q:' .. tenant .. ':' .. id, 'processedOn') or nil)
  return ms and us_of_unix_ms(ms) or 0
end

local function bring_runs(ARGV)
  local brought = 0
  for i = 2, #ARGV do
    local entry = call('HGET', key_running, ARGV[i])
    local _, names_end, tenant, id = string.find(entry or '', '^(%S+) (%S+) ')
    if names_end and #entry - names_end == MARKS_BYTES then
      call('HSET', key_running, ARGV[i], entry .. struct.pack('<d', started_at(tenant, id)))
      brought = brought + 1
    end
  end
  return brought
end

return function(ARGV)
  local what, format = ARGV[1], call('HGET', key_type, 'format')
  if format == TO then return 0 end
  -- An API alone left no version.
  if not format and call('HSTRLEN', key_type, 's') == TYPE_BYTES then format = FROM end
  if format ~= UNDER_WAY and (format ~= FROM or what ~= 'begin') then return -1 end
  if what == 'buckets' then return bring_buckets(ARGV) end
  if what == 'runs' then return bring_runs(ARGV) end
  if what == 'begin' then bring_type() end
  call('HSET', key_type, 'format', what == 'begin' and UNDER_WAY or TO)
  return 0
end
