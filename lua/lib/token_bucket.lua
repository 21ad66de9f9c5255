--[[
  A token bucket, which is the leaky bucket as a meter (GCRA). Its only state is the theoretical arrival time, at which it
  is whole again: whole microseconds, and the rest in 2^-32 of one. 12 bytes are what Redis keeps beside its own header
  without another allocation.

  In whole nanoseconds every call of a rate such as 3/s would be off by a part of one; ten of them, and the tenth of ten
  is refused, or one too many passes in a thousand. So no digit is lost: `TOLERANCE` takes up what a million calls add.

  Of a limit: `take` µs that the call fills, `quota` µs that fill it, `interval` µs per unit.
]]
--- @include "lib/limit_call"

local STORED, PARTS = '<dI4', 4294967296
local TOLERANCE_US, TOLERANCE = 0.001, 1e-15

-- A rise by `us`: whole microseconds, and 2^-32 of one.
local function split(us)
  local rest = us % 1
  local parts = rest * PARTS + 0.5
  return us - rest, parts - parts % 1
end

local function prepare_bucket(limit)
  limit.full = limit.quota * (1 + TOLERANCE) + TOLERANCE_US
  limit.whole, limit.parts = split(limit.take)
end

local function bucket_rise(limit, us, whole, parts)
  local part = limit.part + parts
  if part >= PARTS then whole, part = whole + 1, part - PARTS end
  limit.tat, limit.part, limit.level = limit.tat + whole, part, limit.level + us
end

local function read_bucket(limit, now)
  local tat, part, level, stepped = now, 0, 0, false
  local stored = call('GET', limit.key)
  if stored then
    tat, part = unpack(STORED, stored)
    level = tat - now + part / PARTS
    -- More than full: the clock stepped back, or the limit shrank.
    stepped = level > limit.full
    if level <= 0 or stepped then tat, part, level = now, 0, 0 end
  end
  limit.stored, limit.tat, limit.part, limit.level, limit.stepped = stored, tat, part, level, stepped
  if stepped then bucket_rise(limit, limit.quota, split(limit.quota)) end
  limit.fits = limit.level + limit.take <= limit.full
end

-- A key that lives long enough keeps its time to live: to set that anew costs more than the rest of a decision. (12
-- thousand instructions by SET with PX, 8 by PTTL and SETRANGE.)
local function save_bucket(limit)
  local key, state = limit.key, pack(STORED, limit.tat, limit.part)
  if limit.stored and call('PTTL', key) >= limit.level / 1000 + margin_ms / 2 then
    call('SETRANGE', key, '0', state)
  else
    call('SET', key, state, 'PX', lifetime(limit.quota))
  end
end

local function charge_bucket(limit)
  bucket_rise(limit, limit.take, limit.whole, limit.parts)
  save_bucket(limit)
end

local function bucket_wait(limit)
  return limit.level + limit.take - limit.full
end

-- What follows from the level is for whoever asks: the limit is his. What his integers do not hold goes as text.
local function report_bucket(limit, _, reply, n)
  local held = limit.level * 1000
  reply[n + 1] = held < 9e15 and held + -held % 1 or string.format('%.17g', held)
  return n + 1
end

--[[
  Takes a call's units out again, but none that have leaked since: `held` (ns) is what the bucket held right after the
  call, and without the call it had been whole no later than when that has leaked. More would make room for more than
  the bucket holds.
]]
local function refund_bucket(limit, now, taken_at, held)
  read_bucket(limit, now)
  local give = math.min(limit.take, held / 1000 - math.max(0, now - taken_at))
  if limit.level == 0 or give <= 0 then return end
  local rest = limit.level - give
  if rest <= TOLERANCE_US then
    call('DEL', limit.key)
    return
  end
  bucket_rise(limit, -give, split(-give))
  save_bucket(limit)
end
