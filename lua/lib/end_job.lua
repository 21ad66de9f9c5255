--[[
  Ends of jobs, and what ended jobs leave behind. `expired` and `cancelled` live in BullMQ's failed set; the field hg:e
  of the job's hash tells them from failures. BullMQ never trims an ended set here: it knows nothing of idempotency keys.
]]
--- @include "lib/place"
--- @include "lib/door_charge"
--- @include "lib/deadline"
--- @include "lib/outbox"
--- @include "lib/unseen"

-- Everything of an ended job goes: its hash, its logs, its output and the idempotency key that names it.
local function remove_ended(b, id)
  local job = b.prefix .. id
  local idem = call('HGET', job, 'hg:i')
  if idem then call('DEL', tag .. ':idem:' .. b.tenant .. ':' .. idem) end
  call('DEL', job, job .. ':logs', job .. ':lock', job .. ':output')
end

-- Whether a job's hash is there, whether its tenant was erased while it ran (then it leaves nothing, and nobody is told),
-- who wants to be told of its end, and how many attempts it has made with the one that ends, as text.
local function look_at(job)
  local f = call('HMGET', job, 'timestamp', 'hg:z', 'hg:u', 'atm')
  return f[1], f[2], not f[2] and f[3], f[4] and num(f[4] + 1) or '1'
end

local function forget(b, set, id)
  remove_ended(b, id)
  call('ZREM', set, id)
end

-- Keep at most `count` of an ended set; a call removes at most 100.
local function trim_ended(b, set, count)
  local excess = math.min(call('ZCARD', set) - count, 100)
  if excess <= 0 then return end
  for _, id in ipairs(call('ZRANGE', set, 0, excess - 1)) do
    remove_ended(b, id)
    call('ZREM', set, id)
  end
end

-- A job of this bucket ended: its result is among the last `count`, and expires in `age` ms.
local function keep_result(b, set, age, count)
  trim_ended(b, set, count)
  if b.indexed then return end
  call('ZADD', key_results, 'NX', num(now + (count == 0 and 0 or age) * 1000), b.tenant)
  b.indexed = true
end

--[[
  Take a job that waits or is delayed out of its bucket and end it as `ending`: expired, cancelled, or failed for a `reason`. It
  uses no rate: what was paid for at the door gets its charge back, and pays again if somebody makes it wait again. The payload
  goes at once unless the job failed: nobody will run it, and who adds and cancels without end would fill Redis with what no
  limit counts any more. Idle workers hear of an end that somebody wants to be told of. False when the job is neither waiting nor delayed. The
  caller places the bucket.
]]
local function end_waiting(b, id, ending, keep_age, keep_count, reason)
  local job = b.prefix .. id
  local f = call('HMGET', job, 'priority', 'hg:c', 'hg:p', 'hg:q', 'hg:u')
  local priority, cost = tonumber(f[1]), tonumber(f[2]) or 1
  if call('ZREM', b.prioritized, id) == 1 then
    if priority then count_waiting(b, -1, priority, cost, f[3]) end
  elseif call('ZREM', b.delayed, id) == 1 then
    b.delayed_changed = true
  else
    return false
  end
  -- The job's hash went missing: there is nothing to keep of it.
  if not priority then return true end
  count_bytes(b, -1, call('HSTRLEN', job, 'data'))
  drop_deadline(b, id)
  if f[3] then
    uncharge(b, cost, tonumber(f[3]), tonumber(f[4]))
  end
  reason = reason or ending
  -- Who cancels a job knows of it; of any other end nobody does.
  if ending ~= 'cancelled' then note_unseen(b, id, ending, reason) end
  call('HDEL', job, 'hg:p', 'hg:q')
  call('HSET', job, 'finishedOn', now_ms, 'failedReason', reason)
  if ending ~= 'failed' then
    call('HDEL', job, 'data')
    call('HSET', job, 'hg:e', ending)
  end
  call('ZADD', b.prefix .. 'failed', now_ms, id)
  call('XADD', key_events, 'MAXLEN', '~', 10000, '*', 'event', 'failed', 'jobId', id, 'failedReason', reason)
  if tell_end(b, f[5], id, ending, reason) then call('SPUBLISH', key_wake, 'outbox') end
  keep_result(b, b.prefix .. 'failed', keep_age, keep_count)
  return true
end

-- Jobs whose startBy has come, at most `limit`: they end as expired and leave their place to the next.
local function expire_overdue(limit, keep_age, keep_count)
  if ty.expiry > now then return end
  for _, member in ipairs(call('ZRANGEBYSCORE', key_expire, '-inf', num(now), 'LIMIT', 0, limit)) do
    local tenant, id = string.match(member, '^(%S+) (%S+)$')
    local b = load_bucket(tenant)
    if end_waiting(b, id, 'expired', keep_age, keep_count) then place(b) end
    call('ZREM', key_expire, member)
  end
  next_deadline()
end
