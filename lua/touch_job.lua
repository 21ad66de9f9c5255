--[[
  touch_job: BullMQ's own ${command}, which changes one job of a bucket by hand. What the job adds to the bucket is counted
  before and after, and the bucket goes where it belongs.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    profile      see lib/bucket; "" keeps what is stored
    id           of the job
    time_at      which of BullMQ's ARGV is the caller's clock and becomes the server's; 0: none
    keys         how many of the values that follow are BullMQ's KEYS
    bull...      BullMQ's KEYS, then its ARGV
  Returns what BullMQ's script returns.
]]
--- @include "lib/place"
--- @include "lib/wake"
--- @bull ${command}

local FIRST = 7
local keys, argv = {}, {}
for i = FIRST, #ARGV do
  if i < FIRST + tonumber(ARGV[6]) then keys[#keys + 1] = ARGV[i] else argv[#argv + 1] = ARGV[i] end
end

load_type(ARGV[1])
watch_schedule()
local time_at = tonumber(ARGV[5])
if time_at > 0 then argv[time_at] = unix_ms(now) end
local b = load_bucket(ARGV[2])
apply_profile(b, ARGV[3])
local id = ARGV[4]
local job = b.prefix .. id

-- What the job adds to its bucket now: cost under its priority while it waits, bytes while it waits or is delayed.
local function contribution()
  local waits, delayed = call('ZSCORE', b.prioritized, id), call('ZSCORE', b.delayed, id)
  local f = call('HMGET', job, 'priority', 'hg:c')
  return {
    priority = waits and tonumber(f[1]), cost = tonumber(f[2]) or 1,
    bytes = (waits or delayed) and call('HSTRLEN', job, 'data') or 0,
  }
end

local idem = call('HGET', job, 'hg:i')
local before = contribution()
local reply = bull_${command}(keys, argv)
local after = contribution()
if before.priority then count_waiting(b, -1, before.priority, before.cost) end
if after.priority then count_waiting(b, 1, after.priority, after.cost) end
count_bytes(b, 1, after.bytes - before.bytes)
-- BullMQ writes the event of a removal under the tenant's own prefix; here all queues share one stream.
call('DEL', b.prefix .. 'events', b.prefix .. 'meta')
if call('EXISTS', job) == 0 then
  call('ZREM', key_expire, b.tenant .. ' ' .. id)
  if idem then call('DEL', tag .. ':idem:' .. b.tenant .. ':' .. idem) end
elseif after.priority and not before.priority then
  -- A job that ended and waits again has neither an ending nor a wish to stop.
  call('HDEL', job, 'hg:e', 'hg:x')
end
place(b)
index_if_quiet(b)
wake_if_earlier()
save_type()
return reply
