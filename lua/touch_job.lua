--[[
  touch_job: BullMQ's own ${command}, which changes one job of a bucket by hand. What the job adds to the bucket is counted
  before and after, and the bucket goes where it belongs.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    profile      see lib/bucket; "" keeps what is stored
    id           of the job
    time_at      which of BullMQ's ARGV is the caller's clock and becomes the server's; 0: none
    keys         how many of the values that follow are BullMQ's KEYS
    bull...      BullMQ's KEYS, then its ARGV
  Returns what BullMQ's script returns. A job that was cancelled or expired before it started has no payload any more and
  cannot wait again: that is answered as of a job that is not in the state which reprocessJob asks for.
]]
--- @include "lib/wake"
--- @include "lib/bull"
--- @include "lib/deadline"
--- @bull ${command}

-- What the job adds to its bucket now: cost under its priority while it waits, bytes while it waits or is delayed.
local function contribution(b, job, id)
  local waits, delayed = call('ZSCORE', b.prioritized, id), call('ZSCORE', b.delayed, id)
  local f = call('HMGET', job, 'priority', 'hg:c', 'hg:p')
  return {
    priority = waits and tonumber(f[1]), cost = tonumber(f[2]) or 1, paid = f[3], delayed = delayed,
    bytes = (waits or delayed) and call('HSTRLEN', job, 'data') or 0,
  }
end

local function recount(b, before, after)
  if before.priority then count_waiting(b, -1, before.priority, before.cost, before.paid) end
  if after.priority then count_waiting(b, 1, after.priority, after.cost, after.paid) end
  count_bytes(b, 1, after.bytes - before.bytes)
end

local NOT_IN_STATE = -3

return function(ARGV)
  local id, time_at = ARGV[4], tonumber(ARGV[5])
  local keys, argv = bull_arguments(ARGV, 7, tonumber(ARGV[6]))
  load_type(ARGV[1])
  if time_at > 0 then argv[time_at] = now_ms end
  local b = load_bucket(ARGV[2])
  local job = b.prefix .. id
  local idem = call('HGET', job, 'hg:i')
  if '${command}' == 'reprocessJob' and call('EXISTS', job) == 1 and call('HEXISTS', job, 'data') == 0 then
    return NOT_IN_STATE
  end
  apply_profile(b, ARGV[3])
  local before = contribution(b, job, id)
  local reply = bull_${command}(keys, argv)
  if not before.priority and not before.delayed and call('ZSCORE', b.prioritized, id) then
    -- A job that ended and waits again has neither an ending nor a wish to stop, and pays for what it does anew.
    call('HDEL', job, 'hg:e', 'hg:x', 'hg:p', 'hg:q')
  end
  local after = contribution(b, job, id)
  recount(b, before, after)
  drop_own_events(b)
  if call('EXISTS', job) == 0 then
    drop_deadline(b, id)
    call('DEL', job .. ':output')
    if idem then call('DEL', tag .. ':idem:' .. b.tenant .. ':' .. idem) end
  end
  place_anew(b)
  wake_if_earlier()
  save()
  return reply
end
