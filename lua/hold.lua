--[[
  hold: nothing of the type starts for a while, because its upstream is busy. A hold only ever ends by time, and one that would
  end earlier does not shorten one that is there.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    hold         ms
  Returns 'ok'.
]]
--- @include "lib/bucket"

return function(ARGV)
  load_type(ARGV[1])
  ty.held = math.max(ty.held, now + tonumber(ARGV[2]) * 1000)
  save()
  return 'ok'
end
