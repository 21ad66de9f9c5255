--[[
  A sliding-window log: every call with its instant, as long as the window covers it. Exact.

  A sorted set; score = instant (µs), one entry for one instant; member = the total of all units ever taken up to it and
  with it, and behind a `:` its own units unless they are 1. So what the window holds is the difference of two totals, and
  nothing is ever added up: a call takes O(log n), a search for the instant at which enough has left O(log² n). Totals
  start over at `MODULUS`; differences do not mind.

  Of a limit: `take` and `quota` in millionths of a unit, `interval` is the window in µs. There are at most as many
  entries as the limit has units: beyond that, which takes costs below 1, the newest entry takes up the call and its
  units leave with it, later than they might.
]]
--- @include "lib/limit_call"

local UNIT, MODULUS = 1e6, 2e15
local PROBES = 64

local function units_text(units)
  if units % UNIT == 0 then return string.format('%d', units / UNIT) end
  return string.format('%d.%06d', math.floor(units / UNIT), units % UNIT)
end

local function units_of(text)
  return math.floor(tonumber(text) * UNIT + 0.5)
end

local function member_of(total, units)
  if units == UNIT then return units_text(total) end
  return units_text(total) .. ':' .. units_text(units)
end

-- The first entry of a reply with scores, or nil.
local function entry_of(reply)
  local member = reply[1]
  if not member then return nil end
  local colon = string.find(member, ':', 1, true)
  if not colon then return { member = member, at = tonumber(reply[2]), total = units_of(member), units = UNIT } end
  local total, units = units_of(string.sub(member, 1, colon - 1)), units_of(string.sub(member, colon + 1))
  return { member = member, at = tonumber(reply[2]), total = total, units = units }
end

local function instant_text(us)
  return string.format('%d', us)
end

local function total_before(entry)
  return (entry.total - entry.units) % MODULUS
end

local function prepare_log() end

local function read_log(limit, now)
  limit.since, limit.used, limit.total = instant_text(now - limit.interval), 0, 0
  limit.newest, limit.oldest, limit.base, limit.stepped = nil, nil, 0, false
  local newest = entry_of(call('ZRANGE', limit.key, -1, -1, 'WITHSCORES'))
  if newest then
    limit.total = newest.total
    if newest.at > now - limit.interval then
      local range = call('ZRANGE', limit.key, '(' .. limit.since, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
      limit.newest, limit.oldest = newest, entry_of(range)
      limit.base = total_before(limit.oldest)
      limit.used = (newest.total - limit.base) % MODULUS
      limit.stepped = newest.at > now
    end
  end
  limit.fits = limit.used + limit.take <= limit.quota
end

-- Puts an entry in the place of the newest one, or behind it when there is nothing to replace.
local function put_newest(limit, replaced, now, units)
  if replaced then call('ZREM', limit.key, replaced.member) end
  local entry = { member = member_of(limit.total, units), at = now, total = limit.total, units = units }
  call('ZADD', limit.key, instant_text(now), entry.member)
  call('PEXPIRE', limit.key, lifetime(limit.interval))
  local oldest = limit.oldest
  if not oldest or oldest.at >= now or (replaced and oldest.at == replaced.at) then limit.oldest = entry end
  limit.newest = entry
end

-- Everything that stands in the future becomes one entry made now.
local function heal_log(limit, now)
  local earlier = entry_of(call('ZRANGE', limit.key, '(' .. instant_text(now), '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1,
    'WITHSCORES'))
  local from = earlier and earlier.total or total_before(entry_of(call('ZRANGE', limit.key, 0, 0, 'WITHSCORES')))
  call('ZREMRANGEBYSCORE', limit.key, instant_text(now), '+inf')
  put_newest(limit, nil, now, (limit.total - from) % MODULUS)
end

local function charge_log(limit, now)
  if limit.stepped then heal_log(limit, now) end
  call('ZREMRANGEBYSCORE', limit.key, '-inf', limit.since)
  limit.total, limit.used = (limit.total + limit.take) % MODULUS, limit.used + limit.take
  local newest = limit.newest
  if newest and (newest.at == now or call('ZCARD', limit.key) >= math.ceil(limit.quota / UNIT)) then
    put_newest(limit, newest, now, newest.units + limit.take)
  else
    put_newest(limit, nil, now, limit.take)
  end
  limit.base = total_before(limit.oldest)
end

-- The instant of the first entry with which `units` have left the window.
local function last_to_leave(limit, units)
  if (limit.oldest.total - limit.base) % MODULUS >= units then return limit.oldest.at end
  local low, high = call('ZCOUNT', limit.key, '-inf', limit.since) + 1, call('ZCARD', limit.key) - 1
  for _ = 1, PROBES do
    if low >= high then break end
    local middle = math.floor((low + high) / 2)
    local entry = entry_of(call('ZRANGE', limit.key, middle, middle, 'WITHSCORES'))
    if (entry.total - limit.base) % MODULUS >= units then high = middle else low = middle + 1 end
  end
  return tonumber(call('ZRANGE', limit.key, low, low, 'WITHSCORES')[2])
end

-- µs until `units` more pass.
local function log_wait_for(limit, now, units)
  local excess = limit.used + units - limit.quota
  if excess <= 0 then return 0 end
  return math.min(last_to_leave(limit, excess), now) + limit.interval - now
end

local function log_wait(limit, now)
  return log_wait_for(limit, now, limit.take)
end

local function report_log(limit, now, reply, n)
  local remaining = math.max(0, limit.quota - limit.used)
  local target = math.min(limit.quota, (math.floor(remaining / UNIT) + 1) * UNIT)
  reply[n + 1], reply[n + 2] = remaining, whole_wait(log_wait_for(limit, now, target))
  return n + 2
end

local function refund_log(limit, _, taken_at)
  local at = instant_text(taken_at)
  local entry = entry_of(call('ZRANGE', limit.key, at, at, 'BYSCORE', 'WITHSCORES'))
  if not entry then return end
  local give = math.min(limit.take, entry.units)
  local later = call('ZRANGE', limit.key, '(' .. at, '+inf', 'BYSCORE', 'WITHSCORES')
  -- What replaces an entry comes before that goes: a key that was empty in between would have lost its end.
  if entry.units > give then
    call('ZADD', limit.key, at, member_of((entry.total - give) % MODULUS, entry.units - give))
  end
  call('ZREM', limit.key, entry.member)
  for i = 1, #later, 2 do
    local other = entry_of({ later[i], later[i + 1] })
    call('ZADD', limit.key, instant_text(other.at), member_of((other.total - give) % MODULUS, other.units))
    call('ZREM', limit.key, other.member)
  end
end
