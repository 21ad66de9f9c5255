--[[
  quote: when jobs of one bucket would start if they came now, and how long a run takes. Writes nothing: what a call at the
  door would do first (the profile that holds, delayed jobs that fell due) is done in memory only.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    profile      see lib/bucket; "" keeps what is stored
    priority     BullMQ's, 1 … 10
    cost         of each job
    count        of jobs
    beside       see admit
  Returns { 'quoted', unix ms, depth, free places, first, last, µs of a mean run (0: nobody has measured) }, first and last
  being { wait µs, basis, earliest µs, latest µs }; or { 'cost_exceeds_max', the greatest cost that can pass } (text).
]]
--- @include "lib/eta"
--- @include "lib/door_charge"

-- Delayed jobs whose instant has come stand in the bucket by now; what joins with them is counted as if it had.
local function count_due(b, limit)
  local counts, due = {}, 0
  if b.delayed_at > now then return counts, due end
  local until_score = (tonumber(now_ms) + 1) * 0x1000 - 1
  for _, id in ipairs(call('ZRANGEBYSCORE', b.delayed, 0, num(until_score), 'LIMIT', 0, limit)) do
    local f = call('HMGET', b.prefix .. id, 'priority', 'hg:c', 'hg:p')
    local priority = tonumber(f[1])
    if priority then
      count_waiting(b, 1, priority, tonumber(f[2]) or 1, f[3])
      counts[priority] = (counts[priority] or 0) + 1
      due = due + 1
    end
  end
  return counts, due
end

-- µs until the last of `count` jobs conforms at a policed door, if each comes as soon as it may.
local function conforming_in(b, cost, count)
  if b.pace % 2 == 1 then return math.huge end
  return math.max(wait_to_conform(b.tat, b.T, b.burst, cost * count), wait_to_conform(b.jtat, b.jT, b.burst, count))
end

local function reply_of(p)
  return { whole_us(p.wait), p.basis, range_of(p) }
end

return function(ARGV)
  load_type(ARGV[1])
  ty.free_beside = tonumber(ARGV[7]) or math.huge
  local b, priority, cost, count = load_bucket(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  apply_profile(b, ARGV[3])
  local policed = b.pace >= 2
  if policed and b.given_T ~= 0 and cost > b.burst then return { 'cost_exceeds_max', num(b.burst) } end
  local stored, delayed = call('ZCARD', b.prioritized), call('ZCARD', b.delayed)
  local counts, due = count_due(b, 1000)
  b.joining = counts
  local before, jobs, unpaid, all, is_known = before_end_of(b, priority, stored + due)

  -- The start of a job behind `more` others of these.
  local function start_behind(more)
    local own, unsure = nil, is_scarce(b) or not is_known
    if policed then
      own = wait_of_paid(b, b.waiting > 0, before, unpaid, b.odd == 0 and 1 or before)
      own = math.max(own, conforming_in(b, cost, more + 1))
      unsure = unsure or unpaid > 0 or lacks_slot(b, jobs + more)
    else
      own = wait_behind(b, b.waiting > 0, before + more * cost, unpaid + more)
    end
    return promise(b, own, priority, all + more * cost, jobs + more, unsure)
  end

  local free = math.max(0, b.depth - stored - delayed)
  local first, last = reply_of(start_behind(0)), reply_of(start_behind(count - 1))
  return { 'quoted', unix_ms(raw_now), b.depth, free, first, last, whole_us(mean_run()) }
end
