--[[
  A sliding-window counter: what was taken in the present window of the clock and in the one before, of which the part
  counts that a window ending now still covers. That takes the calls of the window before as evenly spread.

  Stored: index of the window, units in it, units in the one before. Of a limit: `take` and `quota` in millionths of a
  unit, `interval` is the window in µs.
]]
--- @include "lib/limit_call"

local COUNTS = '<ddd'
-- A double's last digits, relative to the quota.
local SLACK = 4e-15

local function prepare_counter(limit)
  limit.full = limit.quota * (1 + SLACK)
end

local function read_counter(limit, now)
  local index = math.floor(now / limit.interval)
  limit.index, limit.elapsed, limit.present, limit.before = index, now - index * limit.interval, 0, 0
  limit.stepped = false
  local stored = call('GET', limit.key)
  if stored then
    local at, present, before = struct.unpack(COUNTS, stored)
    if at >= index then
      -- A later window than this one: the clock stepped back.
      limit.stepped = at > index
      limit.present, limit.before = present, before
    elseif at == index - 1 then
      limit.before = present
    end
  end
  limit.used = limit.present + limit.before * (limit.interval - limit.elapsed) / limit.interval
  limit.fits = limit.used + limit.take <= limit.full
end

local function save_counter(limit)
  local counts = struct.pack(COUNTS, limit.index, limit.present, limit.before)
  call('SET', limit.key, counts, 'PX', lifetime(2 * limit.interval - limit.elapsed))
end

local function charge_counter(limit)
  limit.present, limit.used = limit.present + limit.take, limit.used + limit.take
  save_counter(limit)
end

-- µs until `units` more pass: in this window, once enough of the one before has slid out; else in the next one.
local function counter_wait_for(limit, units)
  if limit.used + units <= limit.full then return 0 end
  local interval, present, before, room = limit.interval, limit.present, limit.before, limit.quota - units
  if room >= present then return interval * (before - room + present) / before - limit.elapsed end
  return interval - limit.elapsed + interval * (present - room) / present
end

local function counter_wait(limit)
  return counter_wait_for(limit, limit.take)
end

local function report_counter(limit, _, reply, n)
  local remaining = math.max(0, math.floor(limit.quota - limit.used + 0.5))
  local target = math.min(limit.quota, (math.floor(remaining / 1e6) + 1) * 1e6)
  reply[n + 1], reply[n + 2] = remaining, whole_wait(counter_wait_for(limit, target))
  return n + 2
end

local function refund_counter(limit, now, taken_at)
  read_counter(limit, now)
  local age = limit.index - math.floor(taken_at / limit.interval)
  if age == 0 then
    limit.present = math.max(0, limit.present - limit.take)
  elseif age == 1 then
    limit.before = math.max(0, limit.before - limit.take)
  else
    return
  end
  if limit.present + limit.before > 0 then save_counter(limit) else call('DEL', limit.key) end
end
