--[[
  check: decide whether calls conform to their limits, and charge those that do. Calls are decided one after another, as
  if each had come alone; the limits of one call together: refused by one, charged to none. A refused call and a peek
  change nothing, but that a call brings back to now what a clock that stepped back has left in the future.

  KEYS  of the limits of all calls
  ARGV
    now         µs since 2025-01-01; "" for the server's clock
    limits...   one for each key: a letter, what the call takes, what the limit holds, its interval; blanks between them
                  b  token bucket: µs that the call fills, µs that fill it, µs per unit
                  l  sliding-window log, and c  sliding-window counter: millionths of a unit, the same, µs of the window
                before the letter: + when the limit belongs to the same call as the one before, ? when the call is a peek
  Returns a flat list: now, then per call
    1 conforming, 0 limited; then per limit: millionths of a unit that remain, µs until a whole unit more does (0: the
      limit is whole), µs until the call passes (0: it does now), ns that a bucket held right after the call (else 0)
    or -1 and an error, and nothing else: an argument of that call is out of range, or its keys hold something else.
      Nothing of it was written.
]]
--- @include "lib/limits"

-- Decides the call whose limits are those of ARGV from `first` to `last`; charges all or none.
local function decide(argv, first, last, now)
  local fits, is_peek = true, false
  for i = first, last do
    if take_limit(i - first + 1, limit_keys[i - 1], argv[i]) == '?' then is_peek = true end
  end
  local size = last - first + 1
  for i = 1, size do
    local limit = limits[i]
    limit.algorithm.read(limit, now)
    fits = fits and limit.fits
  end
  if is_peek then return fits end
  for i = 1, size do
    local limit = limits[i]
    if fits then
      limit.algorithm.charge(limit, now)
    elseif limit.stepped then
      limit.algorithm.heal(limit, now)
    end
  end
  return fits
end

local function last_of_call(argv, first)
  local last = first
  while last < #argv and byte(argv[last + 1]) == 43 do last = last + 1 end
  return last
end

return function(ARGV)
  local now = limit_clock(ARGV[1])
  if not now or #ARGV ~= #limit_keys + 1 then return redis.error_reply('ERR check: its arguments are incomplete') end
  local reply, n, first = { now }, 1, 2
  while first <= #ARGV do
    local last = last_of_call(ARGV, first)
    local known, fits = pcall(decide, ARGV, first, last, now)
    n = n + 1
    if known then
      reply[n] = fits and 1 or 0
      for i = 1, last - first + 1 do
        local limit = limits[i]
        reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = limit.algorithm.report(limit, now)
        n = n + 4
      end
    else
      reply[n], reply[n + 1] = -1, type(fits) == 'table' and fits.err or fits
      n = n + 1
    end
    first = last + 1
  end
  return reply
end
