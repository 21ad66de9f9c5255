--[[
  refund: give back what a call took, as far as that still counts. Called once for a call at most: it does not know what
  it has given back before.

  KEYS  of the call's limits
  ARGV
    now         µs since 2025-01-01; "" for the server's clock
    taken_at    µs since 2025-01-01 at which the call was charged, as check said
    limits      of the call, as check had them
    held...     one for each key: the ns that its bucket held right after the call, as check said; 0 of other limits
  Returns 1. Fails when an argument is out of range, before anything is written.
]]
--- @include "lib/limits"

return function(ARGV)
  local now, taken_at, held = limit_clock(ARGV[1]), positive(ARGV[2]), {}
  local statement = ARGV[3] and read_statement(ARGV[3])
  local size = #limit_keys
  if not (now and taken_at and statement) or taken_at % 1 ~= 0 or #ARGV ~= 3 + size or statement.size ~= size then
    return redis.error_reply('ERR refund: its arguments are incomplete')
  end
  take_limits(statement, 0)
  for i = 1, size do
    held[i] = ARGV[3 + i] == '0' and 0 or positive(ARGV[3 + i])
    if not held[i] then error('ERR an argument is out of range', 0) end
  end
  for i = 1, size do
    statement[i].algorithm.refund(statement[i], now, taken_at, held[i])
  end
  return 1
end
