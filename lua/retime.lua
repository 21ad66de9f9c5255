--[[
  retime: a bucket's profile changed while jobs wait. The level stays, the gate moves, and the bucket goes where it
  belongs now.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    profile      see lib/bucket
  Returns 1 when something changed, else 0.
]]
--- @include "lib/wake"

return function(ARGV)
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  if not apply_profile(b, ARGV[3]) then return 0 end
  place_anew(b)
  wake_if_earlier()
  save()
  return 1
end
