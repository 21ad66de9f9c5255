--[[
  Hand the fairest ready job of any tenant to a worker. The order of gates: the type's capacity, the bucket's rate, its
  concurrency, then the job; nothing is held while waiting for something else.

  Replies { 'job', turn, tenant, job id, fields of the job's hash... } or { 'nothing', µs to wait }; -1 µs: until an event; or
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

local function has_field(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return true end
  end
  return false
end

local function take_from(b, start_tag, token, lock_ms)
  local reply = bull_moveToActive({
    never, b.active_key, b.prioritized, key_events, never, never, never, never, never, b.prefix .. 'pc', never,
  }, { b.prefix, now_ms, { token = token, lockDuration = lock_ms, name = token } })
  local id, fields = reply[2], reply[1]
  if type(fields) ~= 'table' then return nil end
  local data, priority, cost, start_by, promised, starts, admitted
  for i = 1, #fields, 2 do
    local name = fields[i]
    if name == 'data' then
      data = fields[i + 1]
    elseif name == 'priority' then
      priority = tonumber(fields[i + 1])
    elseif name == 'hg:c' then
      cost = tonumber(fields[i + 1])
    elseif name == 'hg:s' then
      start_by = true
    elseif name == 'hg:w' then
      promised = fields[i + 1]
    elseif name == 'ats' then
      starts = fields[i + 1]
    elseif name == 'timestamp' then
      admitted = fields[i + 1]
    end
  end
  if not data then return drop_missing(b, id) end

  cost = cost or 1
  local paid = b.paid > 0 and has_field(fields, 'hg:p')
  count_waiting(b, -1, priority, cost, paid)
  count_bytes(b, -1, #data)
  if start_by then drop_deadline(b, id) end
  account_start(b, start_tag, cost, paid)
  if promised and starts == '1' then observe_start(promised, admitted) end
  enter_run(token, b.tenant, id, permit.id, b.tat, b.jtat, ty.tat, b.finish, now)
  b.was_served = true
  return { 'job', '', b.tenant, id, unpack(fields) }
end

-- Whether this call has seen that nothing more is ripe at its instant.
local all_ripened

local function begin_ripening()
  all_ripened = false
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

-- The bucket at the head of …:ready leaves it, gives a job if it can, and goes where it belongs.
local function take_from_head(tenant, start_tag, token, lock_ms, limit)
  local b = load_bucket(tenant)
  promote_due(b, limit)
  if b.where ~= READY then compete(b) end
  b.where = READY
  local taken
  if may_start(b) then taken = permit.lacking(b, start_tag) or take_from(b, start_tag, token, lock_ms) end
  place(b)
  return taken
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
  local head, gate = call('ZRANGE', key_ready, '0', '0', 'WITHSCORES')[2], type_gate_at()
  if head and gate <= now then return num(tag_to_serve(tonumber(head))), '0' end
  return 'none', num(nothing_until(head and gate or math.max(gate, first_due()))[2])
end

local function fairest(token, lock_ms, limit)
  for _ = 1, limit do
    local head = call('ZRANGE', key_ready, '0', '0', 'WITHSCORES')
    if not head[1] then
      end_readiness()
      return nothing_until(first_due())
    end
    local gate = type_gate_at()
    if gate > now then return nothing_until(gate) end
    local start_tag = tag_to_serve(tonumber(head[2]))
    local taken = take_from_head(head[1], start_tag, token, lock_ms, limit)
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
