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
  local whole = math.floor(us)
  local part = limit.part + math.floor((us - whole) * PARTS + 0.5)
  if part >= PARTS then whole, part = whole + 1, part - PARTS end
  limit.tat, limit.part, limit.level = limit.tat + whole, part, limit.level + us
end

local function read_bucket(limit, now)
  local tat, part, level, stepped = now, 0, 0, false
  local full = limit.quota * (1 + TOLERANCE) + TOLERANCE_US
  local stored = call('GET', limit.key)
  if stored then
    tat, part = struct.unpack(STORED, stored)
    level = tat - now + part / PARTS
    -- More than full: the clock stepped back, or the limit shrank.
    stepped = level > full
    if level <= 0 or stepped then tat, part, level = now, 0, 0 end
  end
  limit.tat, limit.part, limit.level, limit.full, limit.stepped = tat, part, level, full, stepped
  if stepped then bucket_rise(limit, limit.quota) end
  limit.fits = limit.level + limit.take <= full
end

local function save_bucket(limit)
  call('SET', limit.key, struct.pack(STORED, limit.tat, limit.part), 'PX', lifetime(limit.level))
end

local function charge_bucket(limit)
  bucket_rise(limit, limit.take)
  save_bucket(limit)
end

local function report_bucket(limit)
  local quota, interval, level = limit.quota, limit.interval, limit.level
  local remaining = math.max(0, math.floor((quota - level) / interval * 1e6 + 0.5))
  local next_us = 0
  if level > TOLERANCE_US then
    local target = math.min(quota, (math.floor(remaining / 1e6) + 1) * interval)
    next_us = whole_wait(target - quota + level - TOLERANCE_US)
  end
  local wait = limit.fits and 0 or whole_wait(level + limit.take - limit.full)
  return remaining, next_us, wait, math.ceil(math.min(level, 9e12) * 1000)
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
