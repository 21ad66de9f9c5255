--[[
  pause: a bucket starts nothing more, or goes on. What runs is left alone. A flag of Headgate's, not BullMQ's meta, which
  all tenants of a shard share.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    stopped      "1" to pause, "0" to resume
  Returns 1.
]]
--- @include "lib/wake"

return function(ARGV)
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  b.stopped = ARGV[3] == '1'
  b.paused = b.stopped or b.pace % 2 == 1
  place_anew(b)
  wake_if_earlier()
  save()
  return 1
end
