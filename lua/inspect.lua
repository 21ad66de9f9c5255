--[[
  inspect: the state of one bucket. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
  Returns { level (text), waiting, delayed, running, waiting cost (text), bytes, µs until the next start (-1: none), units a
  second that it was served, and those of its share (text), see lib/share }.
]]
--- @include "lib/eta"

return function(ARGV)
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  local waiting, delayed, active = call('ZCARD', b.prioritized), call('ZCARD', b.delayed), call('LLEN', b.active_key)
  local cost = b.paid_cost
  for p = 1, 10 do cost = cost + b.w[p] end
  local level = b.T > 0 and math.max(0, b.tat - now) / b.T or 0
  local next_start = next_place_in(b, waiting)
  local served, deserved = share_rates(b, b.where == READY)
  return { num(level), waiting, delayed, active, num(cost), b.bytes, next_start, num(served), num(deserved) }
end
