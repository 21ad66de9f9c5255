--[[
  place(bucket): read what BullMQ's lists really hold, bring the type's running count in line with it, and put the bucket
  where it belongs. Idempotent: however the lists came to be what they are, one touch heals the schedule.

    nothing waits, nothing is delayed      in neither set
    only delayed jobs                      due at the first one's instant
    paused, or at its own concurrency      due at +inf: never scanned, found when all that waits is walked
    may start later                        due at that instant
    may start now                          ready, under its start tag
]]
--- @include "lib/bucket"

local function first_delayed_at(b)
  local head = call('ZRANGE', b.delayed, 0, 0, 'WITHSCORES')
  if not head[2] then return nil end
  return us_of_unix_ms(math.floor(tonumber(head[2]) / 0x1000))
end

-- Whatever takes the last ready bucket away ends the time without a pause.
local function unready(b)
  if call('ZREM', key_ready, b.tenant) == 1 and ty.busy > 0 and call('EXISTS', key_ready) == 0 then ty.busy = 0 end
end

local function park(b, at)
  unready(b)
  call('ZADD', key_due, at == math.huge and '+inf' or num(at), b.tenant)
end

local function leave(b)
  call('ZREM', key_due, b.tenant)
  unready(b)
end

local function make_ready(b)
  call('ZREM', key_due, b.tenant)
  if call('ZADD', key_ready, 'NX', num(math.max(ty.v, b.finish)), b.tenant) == 1 and ty.busy == 0 then
    ty.busy = now
    ty.tat = math.max(ty.tat, now)
  end
end

local function place(b)
  local waiting = call('ZCARD', b.prioritized) + call('LLEN', b.prefix .. 'wait')
  local active = call('LLEN', b.active_key)
  ty.running = ty.running + active - b.active
  if waiting > 0 and b.waiting == 0 then
    -- Becoming backlogged: what was not used is not saved up.
    b.tat = math.max(b.tat, now)
    b.jtat = math.max(b.jtat, now)
  elseif waiting == 0 and b.waiting > 0 then
    call('HDEL', b.key, 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9', 'w10', 'odd')
    if call('EXISTS', b.delayed) == 0 then call('HDEL', b.key, 'bytes') end
    call('DEL', b.prefix .. 'pc')
  end
  b.waiting, b.active = waiting, active
  save_bucket(b)

  local delayed_at = waiting == 0 and first_delayed_at(b)
  if waiting == 0 and not delayed_at then return leave(b) end
  if b.paused or active >= b.conc then return park(b, math.huge) end
  local at = delayed_at or startable_at(b)
  if at > now then return park(b, at) end
  make_ready(b)
end

-- A script that touched a quiet bucket may have made its hash; a sweep looks whether it may go again.
local function index_if_quiet(b)
  if b.waiting > 0 or b.active > 0 or call('EXISTS', b.delayed) == 1 then return end
  call('ZADD', key_results, 'NX', num(now + 60000000), b.tenant)
end
