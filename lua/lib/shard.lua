--[[
  The keys of one (type, shard), made from KEYS[1], and how numbers are written.

  KEYS[1] is the type's hash; KEYS[2] is a key that never exists: on a cluster it makes Redis refuse the whole script
  (TRYAGAIN) while the slot migrates, instead of letting it fail half-way on a key that it did not declare. Every other
  key shares the hash tag and so the slot.
]]
local call = redis.call
local tag = string.sub(KEYS[1], 1, -6)
local key_type = KEYS[1]
local key_due = tag .. ':due'
local key_ready = tag .. ':ready'
local key_running = tag .. ':running'
local key_expire = tag .. ':expire'
local key_results = tag .. ':results'
local key_events = tag .. ':events'
local key_wake = tag .. ':wake'

-- A double as text without losing a digit: tostring() keeps only 14.
local function num(x)
  return string.format('%.17g', x)
end

-- Whole microseconds of a wait for a reply, rounded up; at most 285 years, beyond which Redis' integers and dates end.
local function whole_us(us)
  return math.max(0, math.ceil(math.min(us, 9e15)))
end
