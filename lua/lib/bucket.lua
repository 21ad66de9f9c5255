--[[
  The state of one bucket beside BullMQ's lists. `tenant` is percent-encoded. Fields of the hash:
    tat jtat        instants at which the bucket is empty, by cost and by jobs (µs)
    finish          finish tag of the job last started
    active waiting  what `place` last found in BullMQ's lists
    T jT burst slack weight conc depth maxb maxw paused rev   the profile: µs per unit, µs per job, units, µs, ...
    w1 … w10        waiting cost by BullMQ's priority      odd  waiting jobs that do not cost 1      bytes  their payloads,
                    delayed jobs' included                         stopped  paused by hand, whatever the profile says
]]
--- @include "lib/type"

local loaded = {}

local function load_bucket(tenant)
  local b = loaded[tenant]
  if b then return b end
  b = { tenant = tenant, key = tag .. ':bucket:' .. tenant, prefix = tag .. ':q:' .. tenant .. ':' }
  b.prioritized = b.prefix .. 'prioritized'
  b.delayed = b.prefix .. 'delayed'
  b.active_key = b.prefix .. 'active'
  local f = call('HMGET', b.key, 'tat', 'jtat', 'finish', 'active', 'waiting', 'T', 'jT', 'burst', 'slack', 'weight',
    'conc', 'paused', 'rev', 'stopped')
  b.tat = tonumber(f[1]) or 0
  b.jtat = tonumber(f[2]) or 0
  b.finish = tonumber(f[3]) or 0
  b.active = tonumber(f[4]) or 0
  b.waiting = tonumber(f[5]) or 0
  b.T = tonumber(f[6]) or 1e6
  b.jT = tonumber(f[7]) or 0
  b.burst = tonumber(f[8]) or 1
  b.slack = tonumber(f[9]) or 250000
  b.weight = tonumber(f[10]) or 1
  b.conc = tonumber(f[11]) or 1e15
  b.stopped = f[14] == '1'
  b.paused = f[12] == '1' or b.stopped
  b.rev = f[13] or ''
  loaded[tenant] = b
  return b
end

local function save_bucket(b)
  call('HSET', b.key, 'tat', num(b.tat), 'jtat', num(b.jtat), 'finish', num(b.finish), 'active', b.active, 'waiting',
    b.waiting)
end

-- A re-rate keeps the level: tat moves so that (tat - now) / T stays.
local function rescale(tat, from, to)
  if from == to or from <= 0 or tat <= now then return tat end
  return now + (tat - now) * to / from
end

--[[
  The bucket's profile becomes the one in `text`: "rev T jT burst slack weight conc depth maxb maxw paused", numbers
  separated by blanks; "" keeps what is stored. A rate of 0, written as an interval of -1 or without end, leaves the
  interval alone and pauses the bucket: an infinite instant could never be brought back. True when something changed.
]]
local function interval(given, stored)
  if given >= 0 and given < math.huge then return given end
  return stored
end

local function apply_profile(b, text)
  if text == '' then return false end
  local rev = string.match(text, '^%S+')
  if rev == b.rev then return false end
  local p = {}
  for word in string.gmatch(text, '%S+') do p[#p + 1] = tonumber(word) or word end
  local T, jT = interval(p[2], b.T), interval(p[3], b.jT)
  local paused = p[11] == 1 or T ~= p[2] or jT ~= p[3]
  if b.rev ~= '' then
    b.tat = rescale(b.tat, b.T, T)
    b.jtat = rescale(b.jtat, b.jT, jT)
  end
  b.rev, b.T, b.jT, b.burst, b.slack, b.weight, b.conc = rev, T, jT, p[4], p[5], p[6], p[7]
  b.paused = paused or b.stopped
  call('HSET', b.key, 'rev', rev, 'T', num(T), 'jT', num(jT), 'burst', num(p[4]), 'slack', num(p[5]), 'weight',
    num(p[6]), 'conc', num(p[7]), 'depth', num(p[8]), 'maxb', num(p[9]), 'maxw', num(p[10]), 'paused',
    paused and '1' or '0')
  return true
end

-- The instant from which a backlogged bucket may start its next job, whatever that costs.
local function startable_at(b)
  return math.max(b.tat - (b.burst - 1) * b.T, b.jtat)
end

-- A job joins (sign 1) or leaves (sign -1) what waits.
local function count_waiting(b, sign, priority, cost)
  call('HINCRBYFLOAT', b.key, 'w' .. priority, num(sign * cost))
  if cost ~= 1 then call('HINCRBY', b.key, 'odd', sign) end
end

local function count_bytes(b, sign, bytes)
  if bytes ~= 0 then call('HINCRBY', b.key, 'bytes', sign * bytes) end
end
