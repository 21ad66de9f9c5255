--[[
  sweep: results whose time is over go, and a tenant that went quiet leaves nothing behind. BullMQ trims a queue only when
  another job of it ends, which for a quiet tenant is never. Jobs that are overdue expire, where nobody has dispatched since. Ends
  that nobody saw go to the caller's log.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenants      how many to look at, at most
    jobs         how many ended jobs of each to remove, at most, how many to expire, and how many ends to hand over
    keep_age     ms that results live
    keep_count   how many of them
    floor        see dispatch
  Returns { tenants looked at, jobs removed, tenants forgotten, the greatest finish tag (text) if nothing is ready and nothing
  runs, else "", { ends that nobody saw, as lib/unseen says } }.
]]
--- @include "lib/end_job"
--- @include "lib/wake"
--- @include "lib/spread"

-- Of the call under way.
local max_jobs, age_us, removed, forgotten

-- Removes what is over age; answers the instant (µs) at which the next one is, or nil when the set is empty.
local function remove_over_age(b, set)
  local ids = call('ZRANGEBYSCORE', set, '-inf', unix_ms(now - age_us), 'LIMIT', 0, max_jobs)
  for _, id in ipairs(ids) do
    remove_ended(b, id)
    call('ZREM', set, id)
  end
  removed = removed + #ids
  local oldest = call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  return oldest and us_of_unix_ms(tonumber(oldest)) + age_us + 1000
end

-- A bucket may be forgotten when its level is 0, nothing holds it and its finish is not ahead of virtual time: a new one would be the same.
local function forget(b)
  if b.waiting > 0 or b.active > 0 or b.stopped or b.delayed_at < math.huge then return nil end
  if b.tat > now or b.jtat > now or b.held > now or b.finish > ty.v then
    return math.max(b.tat, b.jtat, b.held, now + 1e6)
  end
  call('DEL', b.key, b.prefix .. 'pc', b.prefix .. 'stalled')
  b.forgotten = true
  forgotten = forgotten + 1
  return nil
end

local function sweep_bucket(b)
  local completed = remove_over_age(b, b.prefix .. 'completed')
  local failed = remove_over_age(b, b.prefix .. 'failed')
  local again = math.min(completed or math.huge, failed or math.huge)
  if again == math.huge then
    place_anew(b)
    again = forget(b)
  end
  b.indexed = again ~= nil
  if again then call('ZADD', key_results, num(again), b.tenant) else call('ZREM', key_results, b.tenant) end
end

return function(ARGV)
  max_jobs, age_us, removed, forgotten = tonumber(ARGV[3]), tonumber(ARGV[4]) * 1000, 0, 0
  load_type(ARGV[1])
  expire_overdue(max_jobs, tonumber(ARGV[4]), tonumber(ARGV[5]))
  keep_up(ARGV[6])
  end_busy_period(ARGV[6])
  local tenants = call('ZRANGEBYSCORE', key_results, '-inf', num(now), 'LIMIT', 0, ARGV[2])
  for _, tenant in ipairs(tenants) do sweep_bucket(load_bucket(tenant)) end
  wake_if_earlier()
  save()
  return { #tenants, removed, forgotten, ty.running == 0 and ty.busy == 0 and num(ty.maxfin) or '',
    take_unseen(max_jobs) }
end
