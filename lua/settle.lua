--[[
  settle: end what a worker was running, and hand it the next jobs in the same breath.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    attempts     how many a job has in all
    keep_age     ms that results live
    keep_count   how many of them
    lock         ms that the lock of a next job lasts
    limit        see dispatch
    floor        see dispatch
    runs...      eight values a run, in the order in which they ended:
                 token     under which the job was dispatched
                 tenant    percent-encoded
                 id        of the job
                 outcome   completed | failed | cancelled | retry | return | busy
                 value     result (JSON) of a completed job, reason of any other
                 delay     retry: ms until it waits again; 0 at once. busy: ms for which nothing of `where` starts
                 where     retry: front | back of its priority; any other that waits again goes to the front.
                           busy: bucket | type. Of any other outcome: ""
                 next      token for the next job; "" to take none, "-" to take none because the slot
                           goes on with one of another shard
  A busy upstream is no fault of the job's: it waits again as if it had not started, and its hash counts in hg:n how often
  that was. A hold only ever ends by time.
  Returns for each run { 'settled' | 'lost', its permit, next... }: lost when another worker holds the job, or nobody does. A repeated
  settle with the same tokens answers the same, but for the permit, which is "" then. `next` is what lib/dispatch_next says; { 'nothing', -1 } when none was
  asked for. Several runs in one call come to the same as one call after another, but what a call costs before it does
  anything, a twelfth of a job, is paid once.
]]
--- @include "lib/end_job"
--- @include "lib/finish_job"
--- @include "lib/dispatch_next"
--- @include "lib/repeated"
--- @include "lib/give_back"
--- @include "lib/running_charge"
--- @bull moveToDelayed

-- BullMQ repeats a result in its event, and thousands of events are kept: of a larger one they say nothing.
local MAX_TOLD = 1024

-- Of the call under way.
local attempts, keep_age, keep_count, floor

local function finish(b, job, run, is_erased, hook, made)
  local target, property = 'failed', 'failedReason'
  if run.outcome == 'completed' then target, property = 'completed', 'returnvalue' end
  local set = b.prefix .. target
  if run.outcome == 'cancelled' then call('HSET', job, 'hg:e', 'cancelled') end
  local told = #run.value <= MAX_TOLD and run.value or 'null'
  finish_job(b, job, run.id, set, target, property, told, made, attempts)
  if told ~= run.value then call('HSET', job, property, run.value) end
  tell_end(b, hook, run.id, run.outcome, run.value)
  if is_erased then forget(b, set, run.id) end
  keep_result(b, set, keep_age, keep_count)
end

local function retry_later(b, job, run)
  local changes = { 'failedReason', run.value, 'hg:t', run.token }
  -- Where it joins when its pause is over.
  if run.where == 'front' then changes[5], changes[6] = 'hg:f', '1' end
  bull_moveToDelayed({
    never, b.active_key, never, b.delayed, job, key_events, never, never, never, never, never,
  }, { b.prefix, now_ms, run.id, NO_LOCK, run.delay, '0', changes, '0' })
  b.delayed_changed = true
  count_bytes(b, 1, call('HSTRLEN', job, 'data'))
end

local function wait_again(b, job, run)
  if run.outcome == 'retry' and tonumber(run.delay) > 0 then return retry_later(b, job, run) end
  if run.outcome == 'retry' then call('HINCRBY', job, 'atm', 1) end
  call('HSET', job, 'failedReason', run.value, 'hg:t', run.token)
  give_back(b, run.id, run.outcome ~= 'retry' or run.where == 'front')
end

local WAITS_AGAIN = { retry = true, ['return'] = true, busy = true }

-- A hold that would end earlier does not shorten one that is there.
local function hold(b, run)
  local held = run.where == 'type' and ty or b
  held.held = math.max(held.held, now + tonumber(run.delay) * 1000)
end

local function was_not_started(b, job, marks)
  local f = call('HMGET', job, 'hg:c', 'hg:p')
  undo_start(b, tonumber(f[1]) or 1, marks, f[2])
  call('HINCRBY', job, 'hg:n', '1')
end

-- `entry` is what …:running had under the run's token.
local function end_run(b, job, run, entry)
  leave_run(run.token, job .. ':lock', WAITS_AGAIN[run.outcome])
  if run.outcome == 'busy' then hold(b, run) end
  local is_there, is_erased, hook, made = look_at(job)
  if not is_there then return drop_missing(b, run.id) end
  if not WAITS_AGAIN[run.outcome] then return finish(b, job, run, is_erased, hook, made) end
  if run.outcome == 'busy' then was_not_started(b, job, marks_of(entry)) end
  if call('HEXISTS', job, 'hg:x') == 0 then return wait_again(b, job, run) end
  -- A job that was asked to stop does not wait again, which its worker does not know.
  run.outcome, run.value = 'cancelled', 'cancelled'
  note_unseen(b, run.id, 'cancelled', 'cancelled')
  finish(b, job, run, is_erased, hook, made)
end

-- A job that ended names its last holder (BullMQ's processedBy), one that waits again who gave it back.
local function was_settled(job, token)
  local f = call('HMGET', job, 'pb', 'hg:t')
  return f[1] == token or f[2] == token
end

-- A bucket that the end of a run cannot move is not loaded and placed, which would cost a tenth of a job.
local function settle_run(run, job, entry, limit)
  if run.outcome == 'completed' or run.outcome == 'failed' then measure_run(now - started_at(entry)) end
  local b = not WAITS_AGAIN[run.outcome] and unmoved_bucket(run.tenant)
  if b then
    end_run(b, job, run, entry)
    return release(b)
  end
  b = load_bucket(run.tenant)
  end_run(b, job, run, entry)
  promote_due(b, limit)
  place(b)
end

local RUN_ARGUMENTS = 8

-- The runs; their tokens and those for their next jobs, in turn; and how many ask for a next job.
local function read_runs(ARGV, first)
  local runs, tokens, asking = {}, {}, 0
  for i = first, #ARGV, RUN_ARGUMENTS do
    local run = {
      token = ARGV[i], tenant = ARGV[i + 1], id = ARGV[i + 2], outcome = ARGV[i + 3], value = ARGV[i + 4],
      delay = ARGV[i + 5], where = ARGV[i + 6], next = ARGV[i + 7],
    }
    local n = #runs + 1
    runs[n], tokens[2 * n - 1], tokens[2 * n] = run, run.token, run.next
    if run.next ~= '' and run.next ~= '-' then asking = asking + 1 end
  end
  return runs, tokens, asking
end

-- The next job for one run's slot. `held` is what …:running had under its token before the call.
local function next_for(run, held, lock_ms, limit)
  if run.next == '' or run.next == '-' then
    end_busy_period(floor)
    if run.next == '' then wake_if_ready() else wake_if_earlier() end
    return { 'nothing', -1 }
  end
  local again = dispatched_before(held, run.next, lock_ms)
  if again then return again end
  expire_overdue(limit, keep_age, keep_count)
  local reply = dispatch_next(run.next, lock_ms, limit, floor)
  wake_if_earlier()
  return reply
end

-- `held` is what …:running had under the token of each run and under the one for its next job.
local function settle_runs(runs, held, lock_ms, limit)
  local replies, seen = {}, {}
  for i = 1, #runs do
    local run = runs[i]
    local job = tag .. ':q:' .. run.tenant .. ':' .. run.id
    local verdict = 'lost'
    -- A run that stands twice in one call ends once.
    local entry = not seen[run.token] and held[2 * i - 1]
    seen[run.token] = true
    local held_permit = permit.of_run(entry, run.tenant, run.id)
    if held_permit then
      settle_run(run, job, entry, limit)
      verdict = 'settled'
    elseif was_settled(job, run.token) then
      verdict = 'settled'
    end
    replies[i] = { verdict, held_permit or '', unpack(next_for(run, held[2 * i], lock_ms, limit)) }
  end
  return replies
end

return function(ARGV)
  attempts, keep_age, keep_count = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
  local lock_ms, limit = ARGV[5], tonumber(ARGV[6])
  floor = ARGV[7]
  local runs, tokens, asking = read_runs(ARGV, 8)
  load_type(ARGV[1])
  local held = call('HMGET', key_running, unpack(tokens))
  fetch_buckets(ARGV, 9, RUN_ARGUMENTS)
  ready.want(math.max(1, asking))
  local replies = with_runs(settle_runs, runs, held, lock_ms, limit)
  save()
  return replies
end
