--[[
  retry: jobs of one bucket that failed wait again, in the order given, each at the back of its priority. They start over:
  no attempt is used, and whatever door they paid at, each uses rate when it starts. The first that does not fit closes
  the door for those behind it.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    profile      see lib/bucket; "" keeps what is stored
    ids...       of the jobs
  Returns for each job
    { 'retried' }, { 'not_found' } or { 'not_failed' }
    { 'bucket_full', depth | maxBytes, µs until the next place is free (-1: unknown) }
]]
--- @include "lib/promote"
--- @include "lib/wake"
--- @include "lib/eta"

-- Of the call under way: the bucket, what waits and is held (delayed jobs included), and the refusal that closed the door.
local b, waiting, held, closed

local function full(bytes)
  local limit = held + 1 > b.depth and 'depth' or b.bytes + bytes > b.max_bytes and 'maxBytes'
  return limit and { 'bucket_full', limit, next_place_in(b, waiting) }
end

local function start_over(job)
  call('HDEL', job, 'finishedOn', 'processedOn', 'failedReason', 'stacktrace', 'progress', 'atm', 'ats', 'stc', 'hg:n',
    'hg:x', 'hg:p', 'hg:q', 'hg:f')
end

local function retry(id)
  local job = b.prefix .. id
  local fields = call('HMGET', job, 'priority', 'hg:c', 'hg:e')
  if not fields[1] then return { 'not_found' } end
  if fields[3] or not call('ZSCORE', b.prefix .. 'failed', id) then return { 'not_failed' } end
  local bytes = call('HSTRLEN', job, 'data')
  closed = closed or full(bytes)
  if closed then return closed end
  call('ZREM', b.prefix .. 'failed', id)
  start_over(job)
  join_waiting(b, id, { fields[1], fields[2] }, false, 'failed')
  count_bytes(b, 1, bytes)
  waiting, held = waiting + 1, held + 1
  return { 'retried' }
end

return function(ARGV)
  load_type(ARGV[1])
  b = load_bucket(ARGV[2])
  apply_profile(b, ARGV[3])
  promote_due(b, 1000)
  waiting = call('ZCARD', b.prioritized)
  held = waiting + call('ZCARD', b.delayed)
  closed = nil
  local verdicts = {}
  for at = 4, #ARGV do verdicts[#verdicts + 1] = retry(ARGV[at]) end
  place_anew(b)
  wake_if_earlier()
  save()
  return verdicts
end
