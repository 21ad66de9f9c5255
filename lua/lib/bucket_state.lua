--[[
  The state of one bucket for whoever looks: { level (text), waiting, delayed, running, waiting cost (text), bytes, µs until
  the next start (-1: none), units a second that it was served, and those of its share (text), see lib/share }.
]]
--- @include "lib/eta"

local function bucket_state(b)
  local waiting, delayed, active = call('ZCARD', b.prioritized), call('ZCARD', b.delayed), call('LLEN', b.active_key)
  local cost = b.paid_cost
  for p = 1, 10 do cost = cost + b.w[p] end
  local level = b.T > 0 and math.max(0, b.tat - now) / b.T or 0
  local next_start = next_place_in(b, waiting)
  local served, deserved = share_rates(b, b.where == READY)
  return { num(level), waiting, delayed, active, num(cost), b.bytes, next_start, num(served), num(deserved) }
end
