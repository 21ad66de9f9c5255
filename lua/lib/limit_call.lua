--[[
  What the algorithms of a policy share: the keys of a call, its instant, its arguments, and how numbers are written.

  Instants are whole microseconds since 2025-01-01 by the server's clock. It may step back: then what stands in the future
  counts as made now, and the next call that may write brings it to now, so nobody waits for the clock to catch up.
]]
local EPOCH_S = 1735689600
-- No argument is greater: a bucket of 1e9 units at 1e-6 a second lasts 1e21 µs.
local GREATEST = 1e21
-- A key outlives what it says by so much: the clock that expires it counts milliseconds.
local MARGIN_MS = 1000
-- An explicit clock may stand still while the server's goes on.
local EXPLICIT_MARGIN_MS = 3600000

-- What is global is looked up twice each time, in the globals and in its table, for as much as it does: it is kept here.
-- For the same reason `x - x % 1` stands for math.floor(x), and `x + -x % 1` for math.ceil(x): in all a fifth of a decision.
local call, pack, unpack, byte, limit_keys, margin_ms

local function begin_limits(keys)
  call, pack, unpack, byte, limit_keys = redis.call, struct.pack, struct.unpack, string.byte, keys
end

-- A number above 0 and not beyond what any limit needs; nil for all else, NaN too.
local function positive(text)
  local number = tonumber(text)
  return number and number > 0 and number <= GREATEST and number or nil
end

-- `explicit` is "" but for tests; nil when it is no instant.
local function limit_clock(explicit)
  if explicit ~= '' then
    margin_ms = EXPLICIT_MARGIN_MS
    local instant = positive(explicit)
    return instant and instant - instant % 1
  end
  margin_ms = MARGIN_MS
  local time = call('TIME')
  return (time[1] - EPOCH_S) * 1e6 + time[2]
end

-- Milliseconds for PX and PEXPIRE, at most 28,000 years.
local function lifetime(us)
  return string.format('%d', math.min(math.ceil(us / 1000), 9e14) + margin_ms)
end

-- A wait for a reply, rounded up; at most 285 years, beyond which Redis' integers end.
local function whole_wait(us)
  if us <= 0 then return 0 end
  return us < 9e15 and us + -us % 1 or 9e15
end
