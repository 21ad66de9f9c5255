--[[
  Hand the fairest ready job of any tenant to a worker. The order of gates: the type's capacity, the bucket's rate, its
  concurrency, then the job; nothing is held while waiting for something else.

  Replies { 'job', tenant, job id, fields of the job's hash } or { 'nothing', µs to wait }; -1 µs: until an event.
]]
--- @include "lib/place"
--- @include "lib/promote"
--- @include "lib/wake"
--- @bull moveToActive

local function take_from(b, start_tag, token, lock_ms, worker)
  local never = KEYS[2]
  local reply = bull_moveToActive({
    b.prefix .. 'wait', b.active_key, b.prioritized, key_events, b.prefix .. 'stalled', never, never,
    b.prefix .. 'paused', never, b.prefix .. 'pc', tag .. ':marker',
  }, { b.prefix, unix_ms(now), cmsgpack.pack({ token = token, lockDuration = lock_ms, name = worker }) })
  local id, fields = reply[2], reply[1]
  if type(fields) ~= 'table' then return nil end

  local job = {}
  for i = 1, #fields, 2 do job[fields[i]] = fields[i + 1] end
  if not job.data then
    -- The job's hash went missing: there is nothing to run, and BullMQ has just made a new hash for it.
    call('LREM', b.active_key, 1, id)
    call('DEL', b.prefix .. id, b.prefix .. id .. ':lock')
    return nil
  end
  local cost = tonumber(job['hg:c']) or 1
  count_waiting(b, -1, tonumber(job.priority), cost)
  count_bytes(b, -1, #job.data)
  if job['hg:s'] then call('ZREM', key_expire, b.tenant .. ' ' .. id) end
  call('HSET', key_running, token, b.tenant .. ' ' .. id)

  ty.tat = math.max(ty.tat, now - ty.slack) + cost * ty.T
  b.tat = math.max(b.tat, now - b.slack) + cost * b.T
  b.jtat = math.max(b.jtat, now - b.slack) + b.jT
  ty.v = math.max(ty.v, start_tag)
  b.finish = start_tag + cost / b.weight
  ty.maxfin = math.max(ty.maxfin, b.finish)
  return { 'job', b.tenant, id, fields }
end

-- Buckets whose instant has come become ready, at most `limit` of them.
local function ripen(limit)
  for _, tenant in ipairs(call('ZRANGEBYSCORE', key_due, '-inf', num(now), 'LIMIT', 0, limit)) do
    local b = load_bucket(tenant)
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
  at = math.min(at, tonumber(call('ZRANGE', key_expire, 0, 0, 'WITHSCORES')[2]) or math.huge)
  return { 'nothing', at == math.huge and -1 or whole_us(at - now) }
end

local function dispatch_next(token, lock_ms, worker, limit)
  ripen(limit)
  for _ = 1, limit do
    local head = call('ZRANGE', key_ready, 0, 0, 'WITHSCORES')
    if not head[1] then
      ty.busy = 0
      break
    end
    local gate = type_gate_at()
    if gate > now then return nothing_until(gate) end
    local b = load_bucket(head[1])
    promote_due(b, limit)
    -- Ask the lists before taking: a bucket that is at its cap, or empty, only needs its place mended.
    local taken
    if not b.paused and call('LLEN', b.active_key) < b.conc then
      taken = take_from(b, tonumber(head[2]), token, lock_ms, worker)
    end
    call('ZREM', key_ready, b.tenant)
    place(b)
    if call('EXISTS', key_ready) == 0 then ty.busy = 0 end
    if taken then return taken end
  end
  end_busy_period()
  -- Whoever mended `limit` buckets and found nothing comes again at once for the rest.
  return nothing_until(call('EXISTS', key_ready) == 1 and now or due_head())
end
