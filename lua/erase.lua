--[[
  erase: everything that a tenant brought and got goes from a bucket. What waits is cancelled and forgotten, what ended is
  forgotten, with payloads, results and idempotency keys; what runs may end, and is forgotten then. Nobody is told of it.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    limit        jobs to erase, at most, of each list
  Returns { jobs erased, jobs that wait or ended and remain, jobs that run, how many of the erased waited }.
]]
--- @include "lib/wake"
--- @include "lib/end_job"

return function(ARGV)
  local limit = tonumber(ARGV[3])
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  local completed, failed, cancelled = b.prefix .. 'completed', b.prefix .. 'failed', 0
  for _, set in ipairs({ b.prioritized, b.delayed }) do
    for _, id in ipairs(call('ZRANGE', set, 0, limit - 1)) do
      call('HDEL', b.prefix .. id, 'hg:u')
      if end_waiting(b, id, 'cancelled', 0, 1e15) then cancelled = cancelled + 1 end
    end
  end
  local erased, remain = 0, call('ZCARD', b.prioritized) + call('ZCARD', b.delayed)
  for _, set in ipairs({ completed, failed }) do
    for _, id in ipairs(call('ZRANGE', set, 0, 3 * limit - 1)) do
      remove_ended(b, id)
      call('ZREM', set, id)
      erased = erased + 1
    end
    remain = remain + call('ZCARD', set)
  end
  local running = call('LRANGE', b.active_key, 0, -1)
  for _, id in ipairs(running) do call('HSET', b.prefix .. id, 'hg:z', '1') end
  if erased > 0 or #running > 0 then
    -- What the bucket itself leaves is swept next.
    call('ZADD', key_results, num(now), b.tenant)
    b.indexed = true
    place_anew(b)
    wake_if_earlier()
    save()
  end
  return { erased, remain, #running, cancelled }
end
