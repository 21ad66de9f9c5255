--[[
  When a job starts at its bucket's own rate: max(now, tat' − (burst − 1)·T + V·T) with tat' = max(tat, now) and V the
  cost that starts before it; by jobs likewise. Waiting cost is kept per priority, so this costs ten additions.
]]
--- @include "lib/place"

local SCARCE_AFTER_US = 50000

-- What waits: cost and number of jobs per priority; jobs are counted only where a second limit asks for them.
local function read_ahead(b)
  local w = call('HMGET', b.key, 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9', 'w10')
  local ahead = { cost = {}, jobs = {} }
  for p = 1, 10 do
    ahead.cost[p] = math.max(0, tonumber(w[p]) or 0)
    ahead.jobs[p] = 0
  end
  if b.waiting > 0 then
    for p = 1, 10 do
      if w[p] then
        ahead.jobs[p] = call('ZCOUNT', b.prioritized, num(p * 0x100000000), '(' .. num((p + 1) * 0x100000000))
      end
    end
  end
  return ahead
end

local function join_ahead(ahead, priority, cost)
  ahead.cost[priority] = ahead.cost[priority] + cost
  ahead.jobs[priority] = ahead.jobs[priority] + 1
end

-- µs until a job behind `cost` units and `jobs` jobs of this bucket starts. A backlogged bucket whose head is late by no
-- more than the slack keeps its place in the ideal schedule, so that lateness does not move the jobs behind.
local function wait_behind(b, cost, jobs)
  local floor = b.waiting > 0 and now - b.slack or now
  local by_cost = math.max(b.tat, floor) + (cost - (b.burst - 1)) * b.T
  local by_jobs = math.max(b.jtat, floor) + jobs * b.jT
  return math.max(now, by_cost, by_jobs) - now
end

-- The same by the type's rate, as if no other tenant took of it.
local function type_wait_behind(cost)
  local floor = ty.busy > 0 and now - ty.slack or now
  return math.max(now, math.max(ty.tat, floor) + (cost - (ty.burst - 1)) * ty.T) - now
end

-- Others wait for workers, or a cap is reached: the bucket's own rate is not what decides.
local function is_scarce(b)
  if b.paused or ty.paused or b.active >= b.conc or ty.running >= ty.conc or ty.held > now then return true end
  return ty.busy > 0 and now - ty.busy > SCARCE_AFTER_US
end

-- What to promise a job that starts after `wait` by its bucket: µs and what they rest on.
local function promise(b, wait, cost, scarce)
  local by_type = type_wait_behind(cost)
  local by_rate = (b.T > 0 or b.jT > 0) and wait >= by_type and not scarce
  return math.max(wait, by_type), by_rate and 'rate' or 'capacity'
end

-- Cost and number of the jobs before one that joins at the end of `priority`.
local function before_end_of(ahead, priority)
  local cost, jobs = 0, 0
  for p = 1, priority do
    cost = cost + ahead.cost[p]
    jobs = jobs + ahead.jobs[p]
  end
  return cost, jobs
end

-- µs until this bucket, in which `waiting` jobs wait, starts its next one, which frees a place; -1 when none will leave.
local function next_place_in(b, waiting)
  if b.paused then return -1 end
  local at = startable_at(b)
  if waiting == 0 then
    local delayed_at = first_delayed_at(b)
    if not delayed_at then return -1 end
    at = math.max(at, delayed_at)
  end
  return whole_us(at - now)
end
