--[[
  One clock for everyone: microseconds since 2025-01-01 by the server, never going back.

  If the server's clock steps back, the offset makes up for it, so virtual now goes on at its usual pace: nothing runs
  backwards and nobody waits for the clock to catch up. Once the real clock has passed virtual now, the offset is dropped.
  `explicit` is "" but for tests and the simulator.
]]
--- @include "lib/shard"

local EPOCH_S = 1735689600

local function read_clock(explicit, last, offset)
  local raw
  if explicit == '' then
    local time = call('TIME')
    raw = (time[1] - EPOCH_S) * 1e6 + time[2]
  else
    raw = tonumber(explicit)
  end
  if raw >= last then return raw, 0, raw end
  if raw + offset >= last then return raw + offset, offset, raw end
  return last, last - raw, raw
end

-- An instant as BullMQ writes it: whole milliseconds since 1970, as text.
local function unix_ms(us)
  return string.format('%d', math.floor(us / 1000) + EPOCH_S * 1000)
end

local function us_of_unix_ms(ms)
  return (ms - EPOCH_S * 1000) * 1000
end
