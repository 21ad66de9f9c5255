--[[
  inspect: the state of one bucket. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
  Returns what lib/bucket_state says.
]]
--- @include "lib/bucket_state"

return function(ARGV)
  load_type(ARGV[1])
  return bucket_state(load_bucket(ARGV[2]))
end
