--[[
  settle: end what a worker was running, and hand it the next job in the same breath.

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
    worker       name of the worker
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

local token, tenant, id, outcome, value = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local delay, front, attempts = tonumber(ARGV[7]), ARGV[8] == '1', tonumber(ARGV[9])
local keep_age, keep_count = tonumber(ARGV[10]), tonumber(ARGV[11])
local next_token, lock_ms, worker, limit = ARGV[12], tonumber(ARGV[13]), ARGV[14], tonumber(ARGV[15])

local function finish(b, job)
  local target = outcome == 'completed' and 'completed' or 'failed'
  local property = outcome == 'completed' and 'returnvalue' or 'failedReason'
  if outcome == 'cancelled' then call('HSET', job, 'hg:e', 'cancelled') end
  age_idempotency(b, id, keep_count == 0 and 0 or keep_age)
  bull_moveToFinished({
    b.prefix .. 'wait', b.active_key, b.prioritized, key_events, b.prefix .. 'stalled', KEYS[2], b.delayed,
    b.prefix .. 'paused', tag .. ':meta', b.prefix .. 'pc', b.prefix .. target, job, KEYS[2], tag .. ':marker',
  }, {
    id, unix_ms(now), property, value, target, '0', b.prefix,
    cmsgpack.pack({ token = token, keepJobs = { count = keep_count, age = keep_age / 1000 }, lockDuration = lock_ms,
      attempts = attempts, maxMetricsSize = '' }),
    cmsgpack.pack({ 'hg:t', token }),
  })
  index_results(b, keep_count == 0 and 0 or keep_age)
end

local function retry_later(b, job)
  bull_moveToDelayed({
    tag .. ':marker', b.active_key, b.prioritized, b.delayed, job, key_events, tag .. ':meta', b.prefix .. 'stalled',
    b.prefix .. 'wait', KEYS[2], b.prefix .. 'pc',
  }, { b.prefix, unix_ms(now), id, token, delay, '0', cmsgpack.pack({ 'hg:t', token, 'failedReason', value }), '0' })
  count_bytes(b, 1, call('HSTRLEN', job, 'data'))
end

local function end_run(b, job)
  call('HDEL', key_running, token)
  if call('EXISTS', job) == 0 then return call('LREM', b.active_key, -1, id) end
  -- Nobody took it over, or it would not stand in …:running: a lock that ran out meanwhile is still this worker's.
  call('SET', job .. ':lock', token, 'PX', lock_ms)
  -- A job that was asked to stop does not wait again.
  if (outcome == 'retry' or outcome == 'return') and call('HEXISTS', job, 'hg:x') == 1 then
    outcome, value = 'cancelled', 'cancelled'
  end
  if outcome == 'retry' and delay > 0 then
    retry_later(b, job)
  elseif outcome == 'retry' or outcome == 'return' then
    if outcome == 'retry' then call('HINCRBY', job, 'atm', 1) end
    call('HSET', job, 'hg:t', token, 'failedReason', value)
    call('DEL', job .. ':lock')
    give_back(b, id, outcome == 'return' or front)
  else
    finish(b, job)
  end
end

load_type(ARGV[1])
watch_schedule()
local job = tag .. ':q:' .. tenant .. ':' .. id
local verdict = 'lost'
if call('HGET', key_running, token) == tenant .. ' ' .. id then
  local b = load_bucket(tenant)
  end_run(b, job)
  promote_due(b, limit)
  place(b)
  verdict = 'settled'
elseif call('HGET', job, 'hg:t') == token then
  verdict = 'settled'
end

local next_job = { 'nothing', -1 }
if next_token ~= '' then
  next_job = dispatched_before(next_token, lock_ms)
  if not next_job then
    expire_overdue(limit, keep_age, keep_count)
    next_job = dispatch_next(next_token, lock_ms, worker, limit)
    wake_if_earlier()
  end
else
  end_busy_period()
  if call('EXISTS', key_ready) == 1 then wake() else wake_if_earlier() end
end
save_type()
return { verdict, next_job }
