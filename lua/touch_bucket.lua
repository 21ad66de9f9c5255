--[[
  touch_bucket: BullMQ's own ${command}, which changes many jobs of a bucket by hand. What waits is counted anew from what
  remains, and the bucket goes where it belongs. The keys that all queues of a shard share are never deleted.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    keys         how many of the values that follow are BullMQ's KEYS
    bull...      BullMQ's KEYS, then its ARGV
  Returns what BullMQ's script returns.
]]
--- @include "lib/wake"
--- @include "lib/bull"
--- @bull ${command}

-- Only obliterate asks BullMQ's meta, which all queues share, whether the queue is paused; that is a flag of the bucket.
local function with_pause_flag(b, keys, argv)
  local flag = tag .. ':paused'
  for i, key in ipairs(keys) do
    if key == key_meta then keys[i] = flag end
  end
  if b.paused then call('HSET', flag, 'paused', '1') end
  local reply = bull_${command}(keys, argv)
  call('DEL', flag)
  return reply
end

local function recount(b)
  no_waiting_cost(b)
  b.bytes = 0
  for _, set in ipairs({ b.prioritized, b.delayed }) do
    for _, id in ipairs(call('ZRANGE', set, 0, -1)) do
      local f = call('HMGET', b.prefix .. id, 'priority', 'hg:c', 'hg:p')
      if set == b.prioritized then count_waiting(b, 1, tonumber(f[1]), tonumber(f[2]) or 1, f[3]) end
      count_bytes(b, 1, call('HSTRLEN', b.prefix .. id, 'data'))
    end
  end
end

local function ids_of(b)
  local ids = call('LRANGE', b.active_key, 0, -1)
  for _, set in ipairs({ b.prioritized, b.delayed, b.prefix .. 'completed', b.prefix .. 'failed' }) do
    for _, id in ipairs(call('ZRANGE', set, 0, -1)) do ids[#ids + 1] = id end
  end
  return ids
end

-- BullMQ does not know of it.
local function drop_output_of_gone(b, ids)
  for _, id in ipairs(ids) do
    if call('EXISTS', b.prefix .. id) == 0 then call('DEL', b.prefix .. id .. ':output') end
  end
end

return function(ARGV)
  local keys, argv = bull_arguments(ARGV, 4, tonumber(ARGV[3]))
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  local ids = ids_of(b)
  local reply = with_pause_flag(b, keys, argv)
  recount(b)
  drop_output_of_gone(b, ids)
  drop_own_events(b)
  place_anew(b)
  wake_if_earlier()
  save()
  return reply
end
