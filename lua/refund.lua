--[[
  refund: give back what a call took, as far as that still counts. Called once for a call at most: it does not know what
  it has given back before.

  KEYS  of the call's limits
  ARGV
    now         µs since 2025-01-01; "" for the server's clock
    taken_at    µs since 2025-01-01 at which the call was charged, as check said
    limits...   two for each key: the limit as check had it, and the ns that its bucket held then, as check said
  Returns 1. Fails when an argument is out of range, before anything is written.
]]
--- @include "lib/limits"

return function(ARGV)
  local now, taken_at, held = limit_clock(ARGV[1]), positive(ARGV[2]), {}
  if not now or not taken_at or taken_at % 1 ~= 0 or #ARGV ~= 2 + 2 * #limit_keys then
    return redis.error_reply('ERR refund: its arguments are incomplete')
  end
  for i = 1, #limit_keys do
    take_limit(i, limit_keys[i], ARGV[2 * i + 1])
    held[i] = ARGV[2 * i + 2] == '0' and 0 or positive(ARGV[2 * i + 2])
    if not held[i] then error('ERR an argument is out of range', 0) end
  end
  for i = 1, #limit_keys do
    limits[i].algorithm.refund(limits[i], now, taken_at, held[i])
  end
  return 1
end
