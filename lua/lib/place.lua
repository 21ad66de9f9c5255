--[[
  place(bucket): read what BullMQ's lists really hold, bring the type's running count in line with it, and put the bucket
  where it belongs. Idempotent: however the lists came to be what they are, one touch heals the schedule.

    nothing waits, nothing is delayed      nowhere
    only delayed jobs                      due at the first one's instant
    paused, or at its own concurrency      due at +inf: never scanned, found when all that waits is walked
    may start later                        due at that instant; what was paid for at the door may start at once
    may start now                          ready, under its start tag

  `became_ready`: something is ready where nothing was; `due_earlier`: the first due instant moved forward. Idle workers do
  not know of it. Where they learn it anyway (dispatch), `quiet` is set and nobody looks.
]]
--- @include "lib/bucket"

local became_ready, due_earlier, quiet

local function begin_places()
  became_ready, due_earlier, quiet = false, false, false
end

local function read_delayed(b)
  local head = call('ZRANGE', b.delayed, '0', '0', 'WITHSCORES')
  b.delayed_at = head[2] and us_of_unix_ms(math.floor(tonumber(head[2]) / 0x1000)) or math.huge
end

-- Whatever takes the last ready bucket away ends the time without a pause.
local function unready(b)
  if b.where == READY then stop_competing(b) end
  if ready.remove(b.tenant) and ty.busy > 0 and ready.is_empty() then end_readiness() end
end

local function park(b, at)
  if b.where == READY then unready(b) end
  b.where = DUE
  local score = at == math.huge and '+inf' or num(at)
  if quiet then return call('ZADD', key_due, score, b.tenant) end
  local before = call('ZSCORE', key_due, b.tenant)
  if before and tonumber(before) == at then return end
  call('ZADD', key_due, score, b.tenant)
  local is_earlier = at < (tonumber(before or 'inf'))
  if is_earlier and call('ZRANGE', key_due, '0', '0')[1] == b.tenant then due_earlier = true end
end

local function leave(b)
  if b.where == DUE then call('ZREM', key_due, b.tenant) end
  if b.where == READY then unready(b) end
  b.where = NOWHERE
end

-- max(V, finish), and just below V for a bucket that was idle: it goes before those that have been ready at V. The twin is
-- src/model/fair-queue.ts.
local EPSILON = 2.220446049250313e-16

local function tag_of(b)
  return b.finish > ty.v and b.finish or ty.v - ty.v * EPSILON
end

local function make_ready(b)
  if b.where == DUE then call('ZREM', key_due, b.tenant) end
  -- A bucket that was ready keeps its start tag, unless it was just served.
  if b.where ~= READY or b.was_served then ready.put(b.tenant, tag_of(b)) end
  if b.where ~= READY then compete(b) end
  b.where, b.was_served = READY, false
  if ty.busy == 0 then
    ty.busy = now
    ty.tat = math.max(ty.tat, now)
    became_ready = became_ready or not quiet
  end
end

-- The bucket goes where it belongs; `waiting` and `active` are what BullMQ's lists hold.
local function place_by(b, waiting, active)
  ty.running = ty.running + active - b.active
  if waiting > 0 and b.waiting == 0 then
    -- Becoming backlogged: what was not used is not saved up.
    b.tat = math.max(b.tat, now)
    b.jtat = math.max(b.jtat, now)
  elseif waiting == 0 and b.waiting > 0 then
    no_waiting_cost(b)
    call('DEL', b.prefix .. 'pc')
  end
  b.waiting, b.active = waiting, active
  if b.delayed_changed then read_delayed(b) end

  if waiting == 0 and b.delayed_at == math.huge then
    b.bytes = 0
    return leave(b)
  end
  if b.paused or active >= b.conc then return park(b, math.huge) end
  local at = waiting > 0 and next_startable_at(b, waiting) or b.delayed_at
  if at > now then return park(b, at) end
  make_ready(b)
end

local function place(b)
  place_by(b, call('ZCARD', b.prioritized), call('LLEN', b.active_key))
end

-- The same, trusting nothing that is remembered of the delayed jobs and of the sets. Only dispatch and settle, which run
-- for every job, do trust it: the sets bring them to the bucket, and they take it out of there by themselves.
local function place_anew(b)
  b.delayed_changed = true
  if b.where ~= DUE then call('ZREM', key_due, b.tenant) end
  if b.where ~= READY then
    unready(b)
  elseif not ready.tag_of(b.tenant) then
    stop_competing(b)
    b.where = NOWHERE
  end
  place(b)
end
