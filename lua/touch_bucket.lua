--[[
  touch_bucket: BullMQ's own ${command}, which changes many jobs of a bucket by hand. What waits is counted anew from what
  remains, and the bucket goes where it belongs. The keys that all queues of a shard share are never deleted.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    keys         how many of the values that follow are BullMQ's KEYS
    bull...      BullMQ's KEYS, then its ARGV
  Returns what BullMQ's script returns.
]]
--- @include "lib/place"
--- @include "lib/wake"
--- @bull ${command}

local FIRST = 4
local keys, argv = {}, {}
for i = FIRST, #ARGV do
  if i < FIRST + tonumber(ARGV[3]) then keys[#keys + 1] = ARGV[i] else argv[#argv + 1] = ARGV[i] end
end

load_type(ARGV[1])
watch_schedule()
local b = load_bucket(ARGV[2])

-- Only obliterate asks BullMQ's meta, which all queues share, whether the queue is paused; that is a flag of the bucket.
local function with_pause_flag(run)
  local flag = tag .. ':paused'
  for i, key in ipairs(keys) do
    if key == tag .. ':meta' then keys[i] = flag end
  end
  if b.paused then call('HSET', flag, 'paused', '1') end
  local reply = run()
  call('DEL', flag)
  return reply
end

local function recount()
  call('HDEL', b.key, 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9', 'w10', 'odd', 'bytes')
  for _, set in ipairs({ b.prioritized, b.delayed }) do
    for _, id in ipairs(call('ZRANGE', set, 0, -1)) do
      local f = call('HMGET', b.prefix .. id, 'priority', 'hg:c')
      if set == b.prioritized then count_waiting(b, 1, tonumber(f[1]), tonumber(f[2]) or 1) end
      count_bytes(b, 1, call('HSTRLEN', b.prefix .. id, 'data'))
    end
  end
end

local reply = with_pause_flag(function() return bull_${command}(keys, argv) end)
recount()
call('DEL', b.prefix .. 'events', b.prefix .. 'meta')
place(b)
index_if_quiet(b)
wake_if_earlier()
save_type()
return reply
