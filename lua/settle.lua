--[[
  settle: end what a worker was running, and hand it the next job in the same breath.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    token        under which the job was dispatched
    tenant       percent-encoded
    id           of the job
    outcome      completed | failed | cancelled | retry | return
    value        result (JSON) of a completed job, reason of any other
    delay        retry: ms until it waits again; 0 at once
    front        retry: "1" to the front of its priority, "0" to the back. A returned job always goes to the front
    attempts     how many the job has in all
    keep_age     ms that results live
    keep_count   how many of them
    next         token for the next job; "" to take none
    lock         ms that its lock lasts
    limit        see dispatch
  Returns { 'settled' | 'lost', next }: lost when another worker holds the job, or nobody does. A repeated settle with
  one token answers the same. `next` is what lib/dispatch_next says; { 'nothing', -1 } when none was asked for.
]]
--- @include "lib/end_job"
--- @include "lib/dispatch_next"
--- @include "lib/repeated"
--- @include "lib/give_back"
--- @bull moveToFinished
--- @bull moveToDelayed

-- To BullMQ's scripts: the caller has checked the lock itself (…:running says who holds it) and removes it.
local NO_LOCK = '0'
-- Their answer when the job's hash is gone.
local MISSING = -1

-- BullMQ repeats a result in its event, and thousands of events are kept: of a larger one they say nothing.
local MAX_TOLD = 1024

local function finish(b, job, run)
  local target = run.outcome == 'completed' and 'completed' or 'failed'
  local property = run.outcome == 'completed' and 'returnvalue' or 'failedReason'
  if run.outcome == 'cancelled' then call('HSET', job, 'hg:e', 'cancelled') end
  local told = #run.value <= MAX_TOLD and run.value or 'null'
  local code = bull_moveToFinished({
    b.prefix .. 'wait', b.active_key, b.prioritized, key_events, b.prefix .. 'stalled', never, b.delayed,
    b.prefix .. 'paused', key_meta, b.prefix .. 'pc', b.prefix .. target, job, never, key_marker,
  }, {
    run.id, now_ms, property, told, target, '0', b.prefix,
    cmsgpack.pack({ token = NO_LOCK, keepJobs = { count = -1 }, attempts = run.attempts, maxMetricsSize = '' }), '',
  })
  if code == MISSING then return call('LREM', b.active_key, '-1', run.id) end
  if told ~= run.value then call('HSET', job, property, run.value) end
  keep_result(b, b.prefix .. target, run.keep_age, run.keep_count)
end

local function retry_later(b, job, run)
  bull_moveToDelayed({
    key_marker, b.active_key, b.prioritized, b.delayed, job, key_events, key_meta, b.prefix .. 'stalled',
    b.prefix .. 'wait', never, b.prefix .. 'pc',
  }, { b.prefix, now_ms, run.id, NO_LOCK, run.delay, '0', cmsgpack.pack({ 'failedReason', run.value, 'hg:t', run.token }), '0' })
  b.delayed_changed = true
  count_bytes(b, 1, call('HSTRLEN', job, 'data'))
end

local function wait_again(b, job, run)
  if run.outcome == 'retry' and tonumber(run.delay) > 0 then return retry_later(b, job, run) end
  if run.outcome == 'retry' then call('HINCRBY', job, 'atm', 1) end
  call('HSET', job, 'failedReason', run.value, 'hg:t', run.token)
  give_back(b, run.id, run.outcome == 'return' or run.front == '1')
end

local function end_run(b, job, run)
  call('HDEL', key_running, run.token)
  call('DEL', job .. ':lock')
  if run.outcome ~= 'retry' and run.outcome ~= 'return' then return finish(b, job, run) end
  if call('EXISTS', job) == 0 then return call('LREM', b.active_key, '-1', run.id) end
  if call('HEXISTS', job, 'hg:x') == 0 then return wait_again(b, job, run) end
  -- A job that was asked to stop does not wait again.
  run.outcome, run.value = 'cancelled', 'cancelled'
  finish(b, job, run)
end

-- A job that ended names its last holder (BullMQ's processedBy), one that waits again the last that gave it back.
local function was_settled(job, token)
  local f = call('HMGET', job, 'pb', 'hg:t')
  return f[1] == token or f[2] == token
end

return function(ARGV)
  local run = {
    token = ARGV[2], tenant = ARGV[3], id = ARGV[4], outcome = ARGV[5], value = ARGV[6], delay = ARGV[7],
    front = ARGV[8], attempts = tonumber(ARGV[9]), keep_age = tonumber(ARGV[10]), keep_count = tonumber(ARGV[11]),
  }
  local next_token, lock_ms, limit = ARGV[12], tonumber(ARGV[13]), tonumber(ARGV[14])
  load_type(ARGV[1])
  local job = tag .. ':q:' .. run.tenant .. ':' .. run.id
  local held = call('HMGET', key_running, run.token, next_token)
  local verdict = 'lost'
  if held[1] == run.tenant .. ' ' .. run.id then
    local b = load_bucket(run.tenant)
    end_run(b, job, run)
    promote_due(b, limit)
    place(b)
    verdict = 'settled'
  elseif was_settled(job, run.token) then
    verdict = 'settled'
  end

  local next_job = { 'nothing', -1 }
  if next_token == '' then
    end_busy_period()
    wake_if_ready()
  else
    next_job = dispatched_before(held[2], next_token, lock_ms)
    if not next_job then
      expire_overdue(limit, run.keep_age, run.keep_count)
      next_job = dispatch_next(next_token, lock_ms, limit)
      wake_if_earlier()
    end
  end
  save()
  return { verdict, next_job }
end
