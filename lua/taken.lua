--[[
  taken: how much of its capacity a type of several shards uses. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
  Returns { slots that are taken, µs until its rate lets something start, units in its bucket (text) }.
]]
--- @include "lib/permits"

return function(ARGV)
  load_total(ARGV[1])
  local level = total.T > 0 and math.max(0, total.tat - now) / total.T or 0
  return { call('HLEN', key_permits), whole_us(total_gate_at() - now), num(level) }
end
