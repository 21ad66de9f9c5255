--[[
  purge: cancel what waits in a bucket, delayed jobs included, the next to start first. What runs is left alone, and what
  was cancelled is kept like any cancelled job.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    limit        jobs to cancel, at most
    keep_age     ms that results live
    keep_count   how many of them
  Returns { jobs cancelled, jobs that still wait }.
]]
--- @include "lib/wake"
--- @include "lib/end_job"

return function(ARGV)
  local limit, age, count = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  local cancelled = 0
  for _, set in ipairs({ b.prioritized, b.delayed }) do
    local ids = cancelled < limit and call('ZRANGE', set, 0, limit - cancelled - 1) or {}
    for _, id in ipairs(ids) do
      if end_waiting(b, id, 'cancelled', age, count) then cancelled = cancelled + 1 end
    end
  end
  local left = call('ZCARD', b.prioritized) + call('ZCARD', b.delayed)
  if cancelled > 0 then
    place_anew(b)
    wake_if_earlier()
    save()
  end
  return { cancelled, left }
end
