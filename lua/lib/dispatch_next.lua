--[[
  Hand the fairest ready job of any tenant to a worker. The order of gates: the type's capacity, the bucket's rate, its
  concurrency, then the job; nothing is held while waiting for something else.

  Replies { 'job', turn, tenant, job id, what lib/handed_job says... } or { 'nothing', µs to wait }; -1 µs: until an event; or
  where a permit is lacking what lib/spread says of that. A
  list within a list would cost Redis as much as three commands. The turn is "" where the type has but one shard, else the
  start tag that was served, the one that is first now ("none": nothing is ready), and µs to wait where that is none.
]]
--- @include "lib/promote"
--- @include "lib/deadline"
--- @include "lib/wake"
--- @include "lib/running_job"
--- @include "lib/spread"
--- @bull moveToActive

-- The start of a job of `cost` in the books of the type, of the bucket unless it paid at the door, and of fair queuing.
local function account_start(b, start_tag, cost, paid)
  ty.tat = math.max(ty.tat, now - ty.slack) + cost * ty.T
  if not paid then
    b.tat = math.max(b.tat, now - b.slack) + cost * b.T
    b.jtat = math.max(b.jtat, now - b.slack) + b.jT
  end
  measure_start(math.max(0, start_tag - ty.v))
  ty.v = math.max(ty.v, start_tag)
  count_share(b)
  count_served(b, cost)
  b.finish = start_tag + cost / b.weight
  ty.maxfin = math.max(ty.maxfin, b.finish)
end

-- Of a job whose start was estimated, hg:w also says what was estimated, and its hash when it came.
local function observe_start(promised, admitted)
  local guess, band = string.match(promised, '^c%d+ (%d+) (%d)$')
  if guess then observe(guess * 1000, band + 0, (now_ms - admitted) * 1000) end
end

-- BullMQ's KEYS and ARGV, which are the same tables for every job.
local active_keys, active_arguments

-- In the job's hash, and in what was read of it.
local function note_start(job, f, token)
  f[4], f[5] = now_ms, f[5] and num(f[5] + 1) or '1'
  call('HSET', job, 'processedOn', f[4], 'ats', f[5], 'pb', token)
end

-- The job at the head of the bucket as a reply, and how many of the bucket run with it; nil where there is none.
local function take_from(b, start_tag, token, lock_ms)
  active_keys[2], active_keys[3], active_keys[10] = b.active_key, b.prioritized, b.prefix .. 'pc'
  active_arguments[1], active_arguments[2] = b.prefix, now_ms
  active_arguments[3].token, active_arguments[3].lockDuration = token, lock_ms
  local reply = bull_moveToActive(active_keys, active_arguments)
  local f, id, active = reply[1], reply[2], reply[3]
  if type(f) ~= 'table' then return nil end
  if not f[1] then return drop_missing(b, id) end

  local is_first = not f[5]
  note_start(b.prefix .. id, f, token)
  local cost, paid = f[7] and tonumber(f[7]) or 1, b.paid > 0 and f[13]
  count_waiting(b, -1, tonumber(f[12]), cost, paid)
  count_bytes(b, -1, #f[1])
  if f[14] then drop_deadline(b, id) end
  account_start(b, start_tag, cost, paid)
  if is_first and f[11] then observe_start(f[11], f[3]) end
  enter_run(token, b.tenant, id, permit.id, b.tat, b.jtat, ty.tat, b.finish, now)
  b.was_served = true
  return handed(b.tenant, id, f), active
end

-- Whether this call has seen that nothing more is ripe at its instant.
local all_ripened

local function begin_ripening()
  all_ripened = false
  if active_keys and active_keys[4] == key_events then return end
  active_keys = { never, '', '', key_events, never, never, never, never, never, '', never }
  active_arguments = { '', '', {} }
end

-- Buckets whose instant has come become ready, at most `limit` of them.
local function ripen(limit)
  if all_ripened then return end
  local ripe = call('ZRANGEBYSCORE', key_due, '-inf', num(now), 'LIMIT', 0, limit)
  all_ripened = #ripe < limit
  if #ripe == 0 then return end
  call('ZREM', key_due, unpack(ripe))
  for _, tenant in ipairs(ripe) do
    local b = load_bucket(tenant)
    if b.where == DUE then b.where = NOWHERE end
    promote_due(b, limit)
    place(b)
  end
end

local function type_gate_at()
  if ty.paused then return math.huge end
  if ty.running >= ty.conc then
    ty.capped = 1
    return math.huge
  end
  return math.max(ty.tat - (ty.burst - 1) * ty.T, ty.held)
end

-- Expiry has the same timer: an overdue job ends at its instant, not when it reaches the head.
local function nothing_until(at)
  at = math.min(at, ty.expiry)
  return { 'nothing', at == math.huge and -1 or whole_us(at - now) }
end

-- A bucket that is paused or at its cap only needs its place mended, as does one whose first job is another one now: its
-- rate may be what that one waits for.
local function may_start(b)
  if b.paused or b.active >= b.conc then return false end
  if not b.delayed_changed then return true end
  return next_startable_at(b, b.paid > 0 and call('ZCARD', b.prioritized)) <= now
end

-- Where a job was taken, `active` run now, and one fewer waits; what is remembered of that is asked anew where the bucket runs
-- out by it, or jobs have joined.
local function place_behind(b, active)
  local waiting = b.waiting - 1
  if not active then return place(b) end
  if waiting < 1 or b.delayed_changed then waiting = call('ZCARD', b.prioritized) end
  place_by(b, waiting, active)
end

-- The bucket at the head of …:ready leaves it, gives a job if it can, and goes where it belongs.
local function take_from_head(tenant, start_tag, token, lock_ms, limit)
  local b = load_bucket(tenant)
  promote_due(b, limit)
  if b.where ~= READY then compete(b) end
  b.where = READY
  local lacking, taken, active
  if may_start(b) then
    lacking = permit.lacking(b, start_tag)
    if not lacking then taken, active = take_from(b, start_tag, token, lock_ms) end
  end
  place_behind(b, active)
  return lacking or taken
end

-- Where there are other shards, tags may be older than what virtual time has come to meanwhile.
local function tag_to_serve(tag)
  return ty.spread and math.max(tag, ty.v - ty.v * EPSILON) or tag
end

local function first_due()
  local due = call('ZRANGE', key_due, '0', '0', 'WITHSCORES')[2]
  return due and tonumber(due) or math.huge
end

-- The first start tag and µs to wait, as lua/turn.lua says them.
local function standing()
  local _, head = ready.first()
  local gate = type_gate_at()
  if head and gate <= now then return num(tag_to_serve(head)), '0' end
  return 'none', num(nothing_until(head and gate or math.max(gate, first_due()))[2])
end

local function fairest(token, lock_ms, limit)
  for _ = 1, limit do
    local tenant, tag, heads = ready.first()
    if not tenant then
      end_readiness()
      return nothing_until(first_due())
    end
    local gate = type_gate_at()
    if gate > now then return nothing_until(gate) end
    if heads then fetch_buckets(heads, 1, 2) end
    local start_tag = tag_to_serve(tag)
    local taken = take_from_head(tenant, start_tag, token, lock_ms, limit)
    if taken then
      if ty.spread and taken[1] == 'job' then taken[2] = table.concat({ num(start_tag), standing() }, ' ') end
      return taken
    end
  end
  -- Whoever mended `limit` buckets and found nothing comes again at once for the rest.
  return nothing_until(now)
end

local function dispatch_next(token, lock_ms, limit, floor, brought)
  -- Workers learn of what changes here by the answer to their own dispatch.
  quiet = true
  keep_up(floor)
  permit.bring(brought)
  local was_busy = ty.busy
  ripen(limit)
  if ty.spread and ty.busy ~= was_busy then join_others() end
  local reply = fairest(token, lock_ms, limit)
  quiet = false
  end_busy_period(floor)
  return reply
end
