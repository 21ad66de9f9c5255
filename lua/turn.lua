--[[
  turn: what a shard has to offer, for whoever has several to choose from, and virtual time brought up to where it has come in
  the others.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    floor        see dispatch
  Returns { virtual time, the first start tag ("none": nothing may start), µs to wait for something to start (-1: until an
  event) }, all as text.
]]
--- @include "lib/end_job"
--- @include "lib/dispatch_next"

return function(ARGV)
  load_type(ARGV[1])
  keep_up(ARGV[2])
  local reply = { num(ty.v), standing() }
  save()
  return reply
end
