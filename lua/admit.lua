--[[
  admit: add the jobs of requests, or say why not. A request is of one bucket, and its jobs join in their order: the first
  that does not fit closes the door for those behind it, in that request; replays are answered all the same. A policed
  bucket charges a job as it is stored, or says when it conforms.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    keep_age     ms that results live
    keep_count   how many of them
    beside       how many jobs more may start by what other shards of the type leave; 0 where workers are scarce in one of
                 them; "": any number
    requests...  four values each, and its jobs:
                 tenant    percent-encoded
                 profile   see lib/bucket; "" keeps what is stored
                 closed    "1": an earlier call for the same request closed the door
                 count     how many jobs follow, each as lib/offered reads it
  Requests in one call come to the same as one call after another at one instant, but for what a call costs before it does
  anything; what Redis will not take of one is no reason not to admit the others.
  Returns for each request { 'failed', what Redis said } or { 'answered', unix ms, depth, free places, { verdict … } }, a
  verdict being
    { 'admitted', id, state, position (0: delayed), wait µs, basis, earliest µs, latest µs (-1: nobody has measured) }
    { 'replayed', id }
    { 'rejected', reason, limit or '', µs until it makes sense to try again (-1: unknown), wait µs }
  The limit is depth or maxBytes of bucket_full, and the greatest cost that can pass of cost_exceeds_max. The reason is
  door_closed for a job that nothing but an earlier call keeps out.
]]
--- @include "lib/promote"
--- @include "lib/wake"
--- @include "lib/end_job"
--- @include "lib/eta"
--- @include "lib/door_charge"
--- @include "lib/offered"
--- @include "lib/joining"
--- @bull addPrioritizedJob
--- @bull addDelayedJob

local FIRST, REQUEST_WIDTH = 5, 4

-- Of the request under way: the bucket, what waits and is held (delayed jobs included) as jobs are added, and the refusal
-- that closed the door.
local b, waiting, held, scarce, delay_from, closed, policed

local function idem_key(hash)
  return tag .. ':idem:' .. b.tenant .. ':' .. hash
end

-- An earlier request stored this very job, by id or by idempotency key.
local function replay_of(job)
  if call('EXISTS', b.prefix .. job.id) == 1 then return { 'replayed', job.id } end
  if job.idem == '' then return nil end
  local known = call('GET', idem_key(job.idem))
  if not known then return nil end
  local digest, id = string.match(known, '^(%S+) (%S+)$')
  if call('EXISTS', b.prefix .. id) == 0 then return nil end
  if digest ~= job.digest then return { 'rejected', 'idempotency_mismatch', '', -1, 0 } end
  return { 'replayed', id }
end

-- Where the job would stand and when it would start, before it is let in: `wait` at the bucket's own rate, `queue` of it
-- beyond the delay that the caller asked for, `promised` what the answer says. A delay is a lower bound.
local function estimate(job)
  local cost, jobs, unpaid, all, is_known = before_end_of(b, job.priority, waiting)
  local delay = job.delay > 0 and delay_from + job.delay * 1000 - now or 0
  local own, unsure = nil, scarce or not is_known
  if policed then
    -- What the last of the unpaid jobs before it costs, nobody has looked at: 1 where all do, else at most all of it.
    own = wait_of_paid(b, b.waiting > 0, cost, unpaid, b.odd == 0 and 1 or cost)
    unsure = unsure or unpaid > 0 or lacks_slot(b, jobs)
  else
    own = wait_behind(b, b.waiting > 0, cost, unpaid)
  end
  local wait = math.max(delay, own)
  local promised = job.delay > 0 and { wait = wait, basis = 'delay' } or promise(b, wait, job.priority, all, jobs, unsure)
  return { wait = wait, queue = wait - delay, promised = promised, position = job.delay > 0 and 0 or jobs + 1 }
end

-- The rate of a policed bucket. That of one that is at 0 never lets anything pass, as far as anybody knows.
local function nonconformity(job)
  if b.pace % 2 == 1 then return { 'rejected', 'rate_limited', '', -1, 0 } end
  local wait = until_conforming(b, job.cost)
  return wait > 0 and { 'rejected', 'rate_limited', '', whole_us(wait), 0 } or nil
end

local function refusal(job, e)
  -- It would be refused at any time, so it says nothing of the jobs behind it.
  if policed and b.given_T ~= 0 and job.cost > b.burst then
    return { 'rejected', 'cost_exceeds_max', num(b.burst), -1, 0 }
  end
  if job.start_by then
    if job.start_by <= now then return { 'rejected', 'deadline_past', '', -1, 0 } end
    if now + e.wait >= job.start_by then
      return { 'rejected', 'deadline_unreachable', '', -1, whole_us(e.wait) }
    end
  end
  if not closed and policed then closed = nonconformity(job) end
  if closed then return closed end
  local limit = held + 1 > b.depth and 'depth' or b.bytes + job.bytes > b.max_bytes and 'maxBytes'
  if limit then
    joining.write(b)
    closed = { 'rejected', 'bucket_full', limit, next_place_in(b, waiting), 0 }
  elseif e.queue > b.max_wait * 1000 then
    closed = { 'rejected', 'wait_too_long', '', whole_us(e.queue - b.max_wait * 1000), whole_us(e.wait) }
  end
  return closed
end

-- What stands in the job's hash beside BullMQ's own fields.
local function own_fields(job, e)
  local fields = {}
  if job.cost ~= 1 then fields[1], fields[2] = 'hg:c', num(job.cost) end
  if policed then
    charge(b, job.cost)
    fields[#fields + 1], fields[#fields + 2] = 'hg:p', num(b.tat)
    if b.jT > 0 then fields[#fields + 1], fields[#fields + 2] = 'hg:q', num(b.jtat) end
  end
  if job.idem ~= '' then fields[#fields + 1], fields[#fields + 2] = 'hg:i', job.idem end
  if job.start_by then fields[#fields + 1], fields[#fields + 2] = 'hg:s', job.start_by_text end
  local kept = kept_promise(e.promised)
  if kept then fields[#fields + 1], fields[#fields + 2] = 'hg:w', kept end
  if job.request ~= '' then fields[#fields + 1], fields[#fields + 2] = 'hg:r', job.request end
  if job.hook ~= '' then fields[#fields + 1], fields[#fields + 2] = 'hg:u', job.hook end
  return fields
end

local function store(job, e)
  job.opts.fields = own_fields(job, e)
  if job.delay > 0 then
    b.delayed_at = math.min(b.delayed_at, delay_from + job.delay * 1000)
    b.delayed_changed = true
    bull_addDelayedJob({ never, never, never, b.delayed, never, key_events },
      { { b.prefix, job.id, job.name, unix_ms(delay_from) }, job.data, job.opts })
  else
    bull_addPrioritizedJob({ never, never, never, b.prioritized, never, never, never, key_events, never },
      { { b.prefix, job.id, job.name, now_ms }, job.data, job.opts })
    count_waiting(b, 1, job.priority, job.cost, policed)
    b.joining[job.priority] = (b.joining[job.priority] or 0) + 1
    waiting = waiting + 1
  end
  if job.idem ~= '' then call('SET', idem_key(job.idem), job.digest .. ' ' .. job.id, 'PX', 86400000) end
  if job.start_by then set_deadline(b, job.id, job.start_by) end
  count_bytes(b, 1, job.bytes)
  held = held + 1
end

local function verdict_on(job)
  local verdict = replay_of(job)
  if verdict then return verdict end
  local e = estimate(job)
  verdict = refusal(job, e)
  if verdict then return verdict end
  store(job, e)
  local state = job.delay > 0 and 'delayed' or 'waiting'
  return { 'admitted', job.id, state, e.position, whole_us(e.promised.wait), e.promised.basis, range_of(e.promised) }
end

-- What a request comes to, whose own values stand at `at`, its jobs before `behind`.
local function admit_request(ARGV, at, behind)
  b = load_bucket(ARGV[at])
  apply_profile(b, ARGV[at + 1])
  promote_due(b, 1000)
  joining.begin(b)
  waiting = call('ZCARD', b.prioritized)
  held = waiting + (b.delayed_at < math.huge and call('ZCARD', b.delayed) or 0)
  scarce, policed = is_scarce(b), b.pace >= 2
  closed = ARGV[at + 2] == '1' and { 'rejected', 'door_closed', '', -1, 0 } or nil
  local verdicts = {}
  for job = at + REQUEST_WIDTH, behind - 1, offered.WIDTH do verdicts[#verdicts + 1] = verdict_on(offered.read(ARGV, job, delay_from)) end
  joining.write(b)
  place_anew(b)
  return { 'answered', unix_ms(raw_now), b.depth, math.max(0, b.depth - held), verdicts }
end

return function(ARGV)
  load_type(ARGV[1])
  ty.free_beside = tonumber(ARGV[4]) or math.huge
  expire_overdue(100, tonumber(ARGV[2]), tonumber(ARGV[3]))
  -- BullMQ counts a delay from a whole millisecond. It is a lower bound, so that is the next one.
  delay_from = math.ceil(now / 1000) * 1000
  local replies, at = {}, FIRST
  while at <= #ARGV do
    local behind = at + REQUEST_WIDTH + tonumber(ARGV[at + 3]) * offered.WIDTH
    local is_done, reply = pcall(admit_request, ARGV, at, behind)
    if not is_done then
      -- Nothing is saved of a bucket that Redis would not let us finish, but what it stored of the request stays in order.
      pcall(joining.write, b)
      loaded[ARGV[at]] = nil
      reply = { 'failed', reply.err or reply }
    end
    replies[#replies + 1] = reply
    at = behind
  end
  wake_if_earlier()
  save()
  return replies
end
