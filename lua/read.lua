--[[
  read: one job and when it starts. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    id           of the job
    scan         how many jobs ahead are looked at, at most, where costs differ
    result       "1" to have the result too, which may be large
    beside       see admit
  Returns { 'none' } or { state, position (0: none), wait µs, basis, approximate (0 | 1), earliest µs, latest µs (-1:
  nobody has measured), unix ms, fields of the hash };
  the payload is not among the fields;
  state as BullMQ's sets have it: waiting | delayed | active | completed | failed.
]]
--- @include "lib/eta"

local FIELDS = { 'timestamp', 'priority', 'processedOn', 'finishedOn', 'failedReason', 'atm', 'progress', 'hg:c', 'hg:e',
  'hg:s', 'hg:x', 'hg:w', 'ats', 'hg:n', 'hg:r', 'hg:u', 'opts' }

-- Names and values of what a reader is told, flat; nil when there is no such job.
local function read_fields(job, with_result)
  local values, flat = call('HMGET', job, unpack(FIELDS)), {}
  if not values[1] then return nil end
  for i, name in ipairs(FIELDS) do
    if values[i] then flat[#flat + 1], flat[#flat + 2] = name, values[i] end
  end
  local result = with_result and call('HGET', job, 'returnvalue')
  if result then flat[#flat + 1], flat[#flat + 2] = 'returnvalue', result end
  return flat
end

-- Cost of the jobs of the same priority that stand before rank; exact by rank while every waiting job costs 1.
local function cost_before(b, first, rank, scan)
  if b.odd == 0 then return rank - first, 0 end
  local cost, looked = 0, math.min(rank - first, scan)
  for _, other in ipairs(looked > 0 and call('ZRANGE', b.prioritized, first, first + looked - 1) or {}) do
    cost = cost + (tonumber(call('HGET', b.prefix .. other, 'hg:c')) or 1)
  end
  if looked == rank - first then return cost, 0 end
  return cost * (rank - first) / looked, 1
end

-- The first `rank` jobs, one by one: cost and number of the unpaid ones, cost of the last of these, cost of all.
local function look_at(b, rank, scan)
  local looked, cost, jobs, last, all = math.min(rank, scan), 0, 0, 0, 0
  for _, other in ipairs(looked > 0 and call('ZRANGE', b.prioritized, 0, looked - 1) or {}) do
    local f = call('HMGET', b.prefix .. other, 'hg:c', 'hg:p')
    local each = tonumber(f[1]) or 1
    all = all + each
    if not f[2] then cost, jobs, last = cost + each, jobs + 1, each end
  end
  if looked == rank then return cost, jobs, last, all, 0 end
  local more = rank / looked
  return cost * more, math.floor(jobs * more), last, all * more, 1
end

local function waiting_reply(p, rank, approximate)
  return { 'waiting', rank + 1, whole_us(p.wait), p.basis, approximate, range_of(p) }
end

-- Where some of what waits was paid for at the door, or all of it.
local function read_among_paid(b, id, rank, priority, scan)
  local cost, jobs, last, all, approximate = look_at(b, rank, scan)
  local scarce = is_scarce(b)
  local own
  if call('HEXISTS', b.prefix .. id, 'hg:p') == 1 then
    own, scarce = wait_of_paid(b, true, cost, jobs, last), scarce or lacks_slot(b, rank)
  else
    own = wait_behind(b, true, cost, jobs)
  end
  return waiting_reply(promise(b, own, priority, all, rank, scarce), rank, approximate)
end

local function read_waiting(b, id, rank, priority, scan)
  if b.paid > 0 then return read_among_paid(b, id, rank, priority, scan) end
  local first = call('ZCOUNT', b.prioritized, '-inf', '(' .. num(priority * 0x100000000))
  local cost, approximate = cost_before(b, first, rank, scan)
  for p = 1, priority - 1 do cost = cost + b.w[p] end
  return waiting_reply(promise(b, wait_behind(b, true, cost, rank), priority, cost, rank, is_scarce(b)), rank, approximate)
end

return function(ARGV)
  load_type(ARGV[1])
  ty.free_beside = tonumber(ARGV[6]) or math.huge
  local b, id = load_bucket(ARGV[2]), ARGV[3]
  local job = b.prefix .. id
  local fields = read_fields(job, ARGV[5] == '1')
  if not fields then return { 'none' } end
  local reply
  local rank = call('ZRANK', b.prioritized, id)
  local due = not rank and call('ZSCORE', b.delayed, id)
  if rank then
    reply = read_waiting(b, id, rank, tonumber(call('HGET', job, 'priority')), tonumber(ARGV[4]))
  elseif due then
    local wait = us_of_unix_ms(math.floor(tonumber(due) / 0x1000)) - now
    reply = { 'delayed', 0, whole_us(wait), 'delay', 0, -1, -1 }
  elseif call('ZSCORE', b.prefix .. 'completed', id) then
    reply = { 'completed', 0, 0, '', 0, -1, -1 }
  elseif call('ZSCORE', b.prefix .. 'failed', id) then
    reply = { 'failed', 0, 0, '', 0, -1, -1 }
  else
    reply = { 'active', 0, 0, '', 0, -1, -1 }
  end
  reply[8], reply[9] = unix_ms(raw_now), fields
  return reply
end
