--[[
  admit: add jobs of one bucket in their order, or say why not. The first job that does not fit closes the door for those
  behind it; replays are answered all the same.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    profile      see lib/bucket; "" keeps what is stored
    keep_age     ms that results live
    keep_count   how many of them
    jobs...      11 values each: id, name, priority (BullMQ's, 1 … 10), delay (ms), cost, data (JSON), options (msgpack),
                 idempotency key (hash) or "", digest of the request, start-by (ms since 1970) or "", request id or ""
  Returns { unix ms, depth, free places, { verdict … } }, a verdict being
    { 'admitted', id, state, position (0: delayed), wait µs, basis }
    { 'replayed', id }
    { 'rejected', reason, limit or '', µs until it makes sense to try again (-1: unknown), wait µs }
]]
--- @include "lib/promote"
--- @include "lib/wake"
--- @include "lib/end_job"
--- @include "lib/eta"
--- @bull addPrioritizedJob
--- @bull addDelayedJob

local tenant, profile = ARGV[2], ARGV[3]
local keep_age, keep_count = tonumber(ARGV[4]), tonumber(ARGV[5])
local WIDTH, FIRST = 11, 6

load_type(ARGV[1])
watch_schedule()
expire_overdue(100, keep_age, keep_count)
local b = load_bucket(tenant)
apply_profile(b, profile)
promote_due(b, 1000)
place(b)

local limits = call('HMGET', b.key, 'depth', 'maxb', 'maxw', 'bytes')
local depth, max_bytes, max_wait = tonumber(limits[1]) or 1000, tonumber(limits[2]) or 1e15, tonumber(limits[3]) or 1e15
local bytes = tonumber(limits[4]) or 0
local waiting, held = b.waiting, b.waiting + call('ZCARD', b.delayed)
local ahead = read_ahead(b)
local scarce = is_scarce(b)
local closed

local function idem_key(hash)
  return tag .. ':idem:' .. tenant .. ':' .. hash
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

-- BullMQ counts a delay from a whole millisecond. It is a lower bound, so that is the next one.
local delay_from = math.ceil(now / 1000) * 1000

-- Where the job would stand and when it would start, before it is let in: `wait` at the bucket's own rate, `queue` of it
-- beyond the delay that the caller asked for, `promised` what the answer says.
local function estimate(job)
  local cost, jobs = before_end_of(ahead, job.priority)
  local delay, e = job.delay > 0 and delay_from + job.delay * 1000 - now or 0, {}
  e.wait = math.max(delay, wait_behind(b, cost, jobs))
  e.queue = e.wait - delay
  if job.delay > 0 then
    e.promised, e.position, e.basis = e.wait, 0, 'delay'
  else
    e.promised, e.basis = promise(b, e.wait, cost, scarce)
    e.position = jobs + 1
  end
  return e
end

local function refusal(job, e)
  if job.start_by then
    if job.start_by <= now then return { 'rejected', 'deadline_past', '', -1, 0 } end
    if now + e.wait >= job.start_by then
      return { 'rejected', 'deadline_unreachable', '', -1, whole_us(e.wait) }
    end
  end
  if closed then return closed end
  if held + 1 > depth then
    closed = { 'rejected', 'bucket_full', 'depth', next_place_in(b, waiting), 0 }
  elseif bytes + job.bytes > max_bytes then
    closed = { 'rejected', 'bucket_full', 'maxBytes', next_place_in(b, waiting), 0 }
  elseif e.queue > max_wait * 1000 then
    closed = { 'rejected', 'wait_too_long', '', whole_us(e.queue - max_wait * 1000), whole_us(e.wait) }
  end
  return closed
end

local function store(job)
  local args = cmsgpack.pack({ b.prefix, job.id, job.name, tonumber(unix_ms(job.delay > 0 and delay_from or now)) })
  local meta, id, marker = tag .. ':meta', tag .. ':id', tag .. ':marker'
  if job.delay > 0 then
    bull_addDelayedJob({ marker, meta, id, b.delayed, b.prefix .. 'completed', key_events }, { args, job.data, job.opts })
  else
    bull_addPrioritizedJob({
      marker, meta, id, b.prioritized, b.delayed, b.prefix .. 'completed', b.active_key, key_events, b.prefix .. 'pc',
    }, { args, job.data, job.opts })
    count_waiting(b, 1, job.priority, job.cost)
    join_ahead(ahead, job.priority, job.cost)
    waiting = waiting + 1
  end
  local extra = { 'hg:c', num(job.cost) }
  if job.idem ~= '' then
    call('SET', idem_key(job.idem), job.digest .. ' ' .. job.id, 'PX', 86400000)
    extra[#extra + 1], extra[#extra + 2] = 'hg:i', job.idem
  end
  if job.start_by then
    call('ZADD', key_expire, num(job.start_by), tenant .. ' ' .. job.id)
    extra[#extra + 1], extra[#extra + 2] = 'hg:s', job.start_by_text
  end
  if job.request ~= '' then extra[#extra + 1], extra[#extra + 2] = 'hg:r', job.request end
  call('HSET', b.prefix .. job.id, unpack(extra))
  count_bytes(b, 1, job.bytes)
  held, bytes = held + 1, bytes + job.bytes
end

local function read_job(at)
  local start_by = tonumber(ARGV[at + 9])
  return {
    id = ARGV[at], name = ARGV[at + 1], priority = tonumber(ARGV[at + 2]), delay = tonumber(ARGV[at + 3]),
    cost = tonumber(ARGV[at + 4]), data = ARGV[at + 5], opts = ARGV[at + 6], idem = ARGV[at + 7],
    digest = ARGV[at + 8], start_by = start_by and us_of_unix_ms(start_by) + ty.offset, start_by_text = ARGV[at + 9], request = ARGV[at + 10],
    bytes = #ARGV[at + 5],
  }
end

local verdicts = {}
for at = FIRST, #ARGV, WIDTH do
  local job = read_job(at)
  local verdict = replay_of(job)
  if not verdict then
    local e = estimate(job)
    verdict = refusal(job, e)
    if not verdict then
      store(job)
      verdict = { 'admitted', job.id, job.delay > 0 and 'delayed' or 'waiting', e.position, whole_us(e.promised), e.basis }
    end
  end
  verdicts[#verdicts + 1] = verdict
end

place(b)
index_if_quiet(b)
wake_if_earlier()
save_type()
return { unix_ms(raw_now), depth, math.max(0, depth - held), verdicts }
