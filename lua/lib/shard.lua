--[[
  The keys of one (type, shard), made from the two that a caller names, and how numbers are written.

  The first is the type's hash, the second a key that never exists: on a cluster it makes Redis refuse the whole script
  (TRYAGAIN) while the slot migrates, instead of letting it fail half-way on a key that it did not declare. Every other
  key shares the hash tag and so the slot. They stay made for as long as calls are for the same shard, as most are.
]]
local call, tag, never
-- What BullMQ's helpers call it.
local rcall
local key_type, key_due, key_ready, key_running, key_expire, key_results, key_wake
local key_events, key_meta

local function begin_shard(keys)
  if keys[1] == key_type then return end
  call, rcall = redis.call, redis.call
  key_type, never = keys[1], keys[2]
  tag = string.sub(key_type, 1, -6)
  key_due, key_ready, key_running, key_expire = tag .. ':due', tag .. ':ready', tag .. ':running', tag .. ':expire'
  key_results, key_wake = tag .. ':results', tag .. ':wake'
  key_events, key_meta = tag .. ':events', tag .. ':meta'
end

-- A double as text without losing a digit: tostring() keeps only 14. Whole numbers, which most are, go the fast way.
local function num(x)
  if x % 1 == 0 and x < 1e15 and x > -1e15 then return string.format('%d', x) end
  return string.format('%.17g', x)
end

-- Whole microseconds of a wait for a reply, rounded up; at most 285 years, beyond which Redis' integers and dates end.
local function whole_us(us)
  return math.max(0, math.ceil(math.min(us, 9e15)))
end
