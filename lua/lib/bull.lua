--[[
  For scripts that run one of BullMQ's own as a caller gave it.
]]
--- @include "lib/shard"

-- BullMQ's KEYS and ARGV, which stand in ours from `first` on: `count` keys, then the rest.
local function bull_arguments(ARGV, first, count)
  local keys, argv = {}, {}
  for i = first, #ARGV do
    if i < first + count then keys[#keys + 1] = ARGV[i] else argv[#argv + 1] = ARGV[i] end
  end
  return keys, argv
end

-- BullMQ writes the event of a removal under the tenant's own prefix; here all queues share one stream.
local function drop_own_events(b)
  call('DEL', b.prefix .. 'events', b.prefix .. 'meta')
end
