--[[
  When a job starts at its bucket's own rate: max(now, tat' − (burst − 1)·T + V·T) with tat' = max(tat, now) and V the
  cost that starts before it; by jobs likewise. Waiting cost is kept per priority, so this costs ten additions.
]]
--- @include "lib/place"

-- Less than any job costs: what rounding may leave of a priority in which nothing waits.
local NOTHING = 1e-6
-- µs: 285 years, beyond which Redis' integers and dates end.
local FOREVER = 9e15

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

-- Others wait for workers, here or in another shard, a cap is reached or an upstream is busy: the bucket's own rate is not what decides.
local function is_scarce(b)
  if b.paused or ty.paused or b.held > now or ty.held > now then return true end
  if b.active >= b.conc or ty.running >= ty.conc then return true end
  return ty.free_beside <= 0 or ty.busy > 0 and now - ty.busy > SCARCE_AFTER_US
end

-- The same of a job that was paid for at the door: it may start as soon as the last of the unpaid ones before it has, of
-- which there are `jobs`, of `cost` together; `last` is what the last of them costs.
local function wait_of_paid(b, backlogged, cost, jobs, last)
  if jobs == 0 then return math.max(0, b.held - now) end
  return wait_behind(b, backlogged, math.max(0, cost - last), jobs - 1)
end

-- Whether the slots that the bucket and the type may have are too few for a job behind `jobs` others, if all start at once.
local function lacks_slot(b, jobs)
  return b.active + jobs >= b.conc or ty.running + jobs >= ty.conc or jobs >= ty.free_beside
end

-- µs until virtual time comes to the tag of a job behind `cost` of its bucket, at the pace that was measured.
local function wait_for_turn(b, cost)
  return turn_us(math.max(0, b.finish - ty.v) + cost / b.weight, b.where == READY and 0 or b.weight)
end

-- µs until a slot of the bucket's own concurrency is free for a job behind `jobs` others.
local function wait_for_slot(b, jobs)
  return math.max(0, jobs + b.active + 1 - b.conc) * mean_run() / b.conc
end

--[[
  What measured service says of a wait of at least `least` µs: an estimate and its band, or nil when there is nothing to
  estimate by. Where workers are scarce, a job also waits for the next start of anybody.
]]
local function estimate_wait(b, least, cost, jobs, is_urgent)
  local by_slot = b.conc < UNLIMITED and wait_for_slot(b, jobs) or 0
  if not has_pace() then
    if by_slot <= 0 then return nil end
    return math.min(FOREVER, math.max(least, by_slot)), band_of(by_slot, mean_run() / b.conc)
  end
  local gap = start_gap()
  local wait = math.min(FOREVER, math.max(least, by_slot, wait_for_turn(b, cost)))
  if is_scarce(b) then wait = wait + gap end
  return wait, is_urgent and BEHIND_URGENT or band_of(wait, gap)
end

-- Whether unpaid jobs of a more urgent priority wait.
local function waits_urgent(b, priority)
  for p = 1, priority - 1 do
    if b.w[p] > NOTHING then return true end
  end
  return false
end

--[[
  What to promise a job of a priority that starts after `wait` by its bucket's own rate: { wait, basis } in µs, and with an estimate
    earliest, latest   between which it starts nine times out of ten
    guess, band        what was estimated, before that was corrected by how well it went till now
  Nobody knows when what is paused goes on: whole_us makes that its greatest wait, which stands for never.
]]
local function promise(b, wait, priority, cost, jobs, scarce)
  if b.paused or ty.paused then return { wait = math.huge, basis = 'capacity' } end
  local by_type = type_wait_behind(cost)
  if (b.T > 0 or b.jT > 0) and wait >= by_type and not scarce then return { wait = wait, basis = 'rate' } end
  local least = math.max(wait, by_type)
  local guess, band = estimate_wait(b, least, cost, jobs, waits_urgent(b, priority))
  if not guess then return { wait = least, basis = 'capacity' } end
  local earliest, middle, latest = calibrated(guess, band)
  local likely = math.max(least, middle)
  return {
    wait = likely, basis = 'capacity', earliest = math.min(earliest, likely), latest = math.max(latest, likely),
    guess = guess, band = band,
  }
end

--[[
  What hg:w keeps of a promise, by which its start is judged: the first letter of its basis and the instant (ms since 1970),
  and of an estimate, in ms, what it was, and its band. nil where nothing was promised.
]]
local function kept_promise(p)
  if p.wait == math.huge then return nil end
  local kept = string.format('%s%d', string.sub(p.basis, 1, 1), now_ms + math.ceil(p.wait / 1000))
  return p.guess and string.format('%s %d %d', kept, math.floor(p.guess / 1000 + 0.5), p.band) or kept
end

-- For a reply: -1 where there is no estimate.
local function range_of(p)
  return p.earliest and whole_us(p.earliest) or -1, p.latest and whole_us(p.latest) or -1
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
  -- Of those that a quote has counted without storing anything.
  for p, joining in pairs(b.joining or {}) do
    if p <= priority then jobs = jobs + joining end
  end
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
