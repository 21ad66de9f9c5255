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

local function bucket_rise(limit, us)
  local rest = us % 1
  local whole, parts = us - rest, rest * PARTS + 0.5
  local part = limit.part + parts - parts % 1
  if part >= PARTS then whole, part = whole + 1, part - PARTS end
  limit.tat, limit.part, limit.level = limit.tat + whole, part, limit.level + us
end

local function read_bucket(limit, now)
  local tat, part, level, stepped = now, 0, 0, false
  local full = limit.quota * (1 + TOLERANCE) + TOLERANCE_US
  local stored = call('GET', limit.key)
  if stored then
    tat, part = unpack(STORED, stored)
    level = tat - now + part / PARTS
    -- More than full: the clock stepped back, or the limit shrank.
    stepped = level > full
    if level <= 0 or stepped then tat, part, level = now, 0, 0 end
  end
  limit.stored, limit.tat, limit.part, limit.level, limit.full, limit.stepped = stored, tat, part, level, full, stepped
  if stepped then bucket_rise(limit, limit.quota) end
  limit.fits = limit.level + limit.take <= full
end

-- A key that lives long enough keeps its time to live: to set that anew costs more than the rest of a decision. (12
-- thousand instructions by SET with PX, 8 by PTTL and SETRANGE.)
local function save_bucket(limit)
  local state = pack(STORED, limit.tat, limit.part)
  if limit.stored and call('PTTL', limit.key) >= limit.level / 1000 + margin_ms / 2 then
    call('SETRANGE', limit.key, '0', state)
  else
    call('SET', limit.key, state, 'PX', lifetime(limit.quota))
  end
end

local function charge_bucket(limit)
  bucket_rise(limit, limit.take)
  save_bucket(limit)
end

local function report_bucket(limit)
  local quota, interval, level = limit.quota, limit.interval, limit.level
  local remaining = (quota - level) / interval * 1e6 + 0.5
  remaining = remaining > 0 and remaining - remaining % 1 or 0
  local next_us = 0
  if level > TOLERANCE_US then
    local target = (remaining - remaining % 1e6 + 1e6) / 1e6 * interval
    next_us = whole_wait((target < quota and target - quota or 0) + level - TOLERANCE_US)
  end
  local wait = limit.fits and 0 or whole_wait(level + limit.take - limit.full)
  local held = (level < 9e12 and level or 9e12) * 1000
  return remaining, next_us, wait, held + -held % 1
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
  bucket_rise(limit, -give)
  save_bucket(limit)
end
