--[[
  When a job starts at its bucket's own rate: max(now, tat' − (burst − 1)·T + V·T) with tat' = max(tat, now) and V the
  cost that starts before it; by jobs likewise. Waiting cost is kept per priority, so this costs ten additions.
]]
--- @include "lib/place"

local SCARCE_AFTER_US = 50000
-- Less than any job costs: what rounding may leave of a priority in which nothing waits.
local NOTHING = 1e-6

-- µs until a job behind `cost` units and `jobs` jobs of this bucket starts. A backlogged bucket whose head is late by no
-- more than the slack keeps its place in the ideal schedule, so that lateness does not move the jobs behind. One that is
-- held starts again at the end of that, late by what it was held.
local function wait_behind(b, backlogged, cost, jobs)
  local floor = math.max(backlogged and now - b.slack or now, b.held - b.slack)
  local by_cost = math.max(b.tat, floor) + (cost - (b.burst - 1)) * b.T
  local by_jobs = math.max(b.jtat, floor) + jobs * b.jT
  return math.max(now, by_cost, by_jobs, b.held) - now
end

-- The same by the type's rate, as if no other tenant took of it.
local function type_wait_behind(cost)
  local floor = math.max(ty.busy > 0 and now - ty.slack or now, ty.held - ty.slack)
  return math.max(now, math.max(ty.tat, floor) + (cost - (ty.burst - 1)) * ty.T, ty.held) - now
end

-- Others wait for workers, a cap is reached or an upstream is busy: the bucket's own rate is not what decides.
local function is_scarce(b)
  if b.paused or ty.paused or b.held > now or ty.held > now then return true end
  if b.active >= b.conc or ty.running >= ty.conc then return true end
  return ty.busy > 0 and now - ty.busy > SCARCE_AFTER_US
end

-- The same of a job that was paid for at the door: it may start as soon as the last of the unpaid ones before it has, of
-- which there are `jobs`, of `cost` together; `last` is what the last of them costs.
local function wait_of_paid(b, backlogged, cost, jobs, last)
  if jobs == 0 then return math.max(0, b.held - now) end
  return wait_behind(b, backlogged, math.max(0, cost - last), jobs - 1)
end

-- Whether the slots that the bucket and the type may have are too few for a job behind `jobs` others, if all start at once.
local function lacks_slot(b, jobs)
  return b.active + jobs >= b.conc or ty.running + jobs >= ty.conc
end

-- What to promise a job that starts after `wait` by its bucket: µs and what they rest on. Nobody knows when what is paused
-- goes on: whole_us makes that its greatest wait, which stands for never.
local function promise(b, wait, cost, scarce)
  if b.paused or ty.paused then return math.huge, 'capacity' end
  local by_type = type_wait_behind(cost)
  local by_rate = (b.T > 0 or b.jT > 0) and wait >= by_type and not scarce
  return math.max(wait, by_type), by_rate and 'rate' or 'capacity'
end

--[[
  What stands before a job that joins at the end of `priority`, where `waiting` jobs wait in all: unpaid cost, jobs, unpaid
  jobs, all cost, and whether these are known: where some were paid for and some stand behind, unpaid jobs and all cost
  are lower bounds.
]]
local function before_end_of(b, priority, waiting)
  local cost, behind = 0, b.paid > 0
  for p = 1, priority do cost = cost + b.w[p] end
  for p = priority + 1, 10 do behind = behind or b.w[p] > NOTHING end
  if not behind then return cost, waiting, waiting, cost, true end
  local jobs = call('ZCOUNT', b.prioritized, '-inf', '(' .. num((priority + 1) * 0x100000000))
  if b.paid == 0 or jobs == 0 then return cost, jobs, jobs, cost, true end
  return cost, jobs, math.max(0, jobs - b.paid), jobs == waiting and cost + b.paid_cost or cost, jobs == waiting
end

local function first_delayed_is_paid(b)
  local head = call('ZRANGE', b.delayed, '0', '0')[1]
  return head and call('HEXISTS', b.prefix .. head, 'hg:p') == 1
end

-- µs until this bucket, in which `waiting` jobs wait, starts its next one, which frees a place; -1 when none will leave.
local function next_place_in(b, waiting)
  if b.paused then return -1 end
  if waiting > 0 then return whole_us(next_startable_at(b, waiting) - now) end
  if b.delayed_at == math.huge then return -1 end
  local at = startable_at(b)
  if at <= b.delayed_at or first_delayed_is_paid(b) then at = math.max(b.delayed_at, b.held) end
  return whole_us(at - now)
end
