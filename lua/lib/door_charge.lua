--[[
  A policed bucket decides at the door: a job conforms when level + cost ≤ burst, by cost and, where there is a jobRate, by
  jobs, of which as many may pass at once as the burst has units. The job is charged as it is stored. Its hash then has
    hg:p         tat right after the charge
    hg:q         jtat likewise, where there is a jobRate
  and whatever becomes of the bucket's mode it passes no rate gate any more, and no run of it is charged.
]]
--- @include "lib/bucket"

-- By how much a sum of odd intervals may miss, µs: what a double rounds off for each unit of a full bucket, never more than a
-- thousandth of a unit. What it lets through is owed by the next job, so it does not add up.
local function rounding(T, burst, cost)
  return math.max(0.05, math.min(0.005 * burst, 1e-3 * math.min(1, cost) * T))
end

local function wait_to_conform(tat, T, burst, cost)
  if T <= 0 then return 0 end
  local wait = math.max(tat, now) - now + (cost - burst) * T
  return wait <= rounding(T, burst, cost) and 0 or wait
end

-- µs until a job of `cost` conforms, if nobody else takes anything; 0: it does.
local function until_conforming(b, cost)
  return math.max(wait_to_conform(b.tat, b.T, b.burst, cost), wait_to_conform(b.jtat, b.jT, b.burst, 1))
end

local function charge(b, cost)
  b.tat = math.max(b.tat, now) + cost * b.T
  b.jtat = math.max(b.jtat, now) + b.jT
end

-- What of a charge of `amount`, which left a book at `mark`, can come out of it again now that the book is at `at`: nothing
-- that has leaked since, which is all that is not ahead of `floor`. Without the job, what came before it had been gone by then.
local function left_of(amount, mark, at, floor)
  return math.max(0, math.min(amount, mark - floor, at - floor))
end

local function uncharge(b, cost, charged_tat, charged_jtat)
  b.tat = b.tat - left_of(cost * b.T, charged_tat, b.tat, now)
  if charged_jtat then b.jtat = b.jtat - left_of(b.jT, charged_jtat, b.jtat, now) end
end
