--[[
  Ends of jobs, and what ended jobs leave behind. `expired` and `cancelled` live in BullMQ's failed set; the field hg:e
  of the job's hash tells them from failures.
]]
--- @include "lib/place"

-- Everything of an ended job goes: its hash, its logs and the idempotency key that names it.
local function remove_ended(b, id)
  local job = b.prefix .. id
  local idem = call('HGET', job, 'hg:i')
  if idem then call('DEL', tag .. ':idem:' .. b.tenant .. ':' .. idem) end
  call('DEL', job, job .. ':logs', job .. ':lock')
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

-- The result of this tenant that expires first does so no earlier than in `age` ms.
local function index_results(b, age)
  call('ZADD', key_results, 'NX', num(now + age * 1000), b.tenant)
end

-- An idempotency key lives as long as its job's result.
local function age_idempotency(b, id, age)
  local idem = call('HGET', b.prefix .. id, 'hg:i')
  local key = idem and tag .. ':idem:' .. b.tenant .. ':' .. idem
  if key and call('PTTL', key) > age then call('PEXPIRE', key, string.format('%.0f', age)) end
end

--[[
  Take a job that waits or is delayed out of its bucket and end it as `ending` (expired, cancelled). It uses no rate.
  False when the job is neither waiting nor delayed. The caller places the bucket.
]]
local function end_waiting(b, id, ending, keep_age, keep_count)
  local job = b.prefix .. id
  local f = call('HMGET', job, 'priority', 'hg:c')
  local priority = tonumber(f[1])
  if call('ZREM', b.prioritized, id) == 1 then
    if priority then count_waiting(b, -1, priority, tonumber(f[2]) or 1) end
  elseif call('ZREM', b.delayed, id) == 0 then
    return false
  end
  -- The job's hash went missing: there is nothing to keep of it.
  if not priority then return true end
  count_bytes(b, -1, call('HSTRLEN', job, 'data'))
  call('ZREM', key_expire, b.tenant .. ' ' .. id)
  call('HSET', job, 'finishedOn', unix_ms(now), 'failedReason', ending, 'hg:e', ending)
  call('ZADD', b.prefix .. 'failed', unix_ms(now), id)
  call('XADD', key_events, 'MAXLEN', '~', 10000, '*', 'event', 'failed', 'jobId', id, 'failedReason', ending)
  age_idempotency(b, id, keep_age)
  trim_ended(b, b.prefix .. 'failed', keep_count)
  index_results(b, keep_count == 0 and 0 or keep_age)
  return true
end

-- Jobs whose startBy has come, at most `limit`: they end as expired and leave their place to the next.
local function expire_overdue(limit, keep_age, keep_count)
  local overdue = call('ZRANGEBYSCORE', key_expire, '-inf', num(now), 'LIMIT', 0, limit)
  for _, member in ipairs(overdue) do
    local tenant, id = string.match(member, '^(%S+) (%S+)$')
    local b = load_bucket(tenant)
    if end_waiting(b, id, 'expired', keep_age, keep_count) then place(b) end
    call('ZREM', key_expire, member)
  end
end
