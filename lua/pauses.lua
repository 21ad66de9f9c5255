--[[
  pauses: which of these buckets were paused by hand. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenants...   percent-encoded
  Returns { 1 or 0 … }, in their order.
]]
--- @include "lib/bucket"

return function(ARGV)
  load_type(ARGV[1])
  local paused = {}
  for i = 2, #ARGV do paused[i - 1] = load_bucket(ARGV[i]).stopped and 1 or 0 end
  return paused
end
