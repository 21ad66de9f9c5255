--[[
  pause: a bucket starts nothing more, or goes on. What runs is left alone. A flag of Headgate's, not BullMQ's meta, which
  all tenants of a shard share.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    stopped      "1" to pause, "0" to resume
  Returns 1.
]]
--- @include "lib/place"
--- @include "lib/wake"

load_type(ARGV[1])
watch_schedule()
local b = load_bucket(ARGV[2])
local profile_pauses = call('HGET', b.key, 'paused') == '1'
b.stopped = ARGV[3] == '1'
b.paused = b.stopped or profile_pauses
if b.stopped then call('HSET', b.key, 'stopped', '1') else call('HDEL', b.key, 'stopped') end
place(b)
index_if_quiet(b)
wake_if_earlier()
save_type()
return 1
