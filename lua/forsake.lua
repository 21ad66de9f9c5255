--[[
  forsake: what waits in a type that nobody serves any more fails, delayed jobs included. It keeps its payload, so that it can
  be told to wait again where the type comes back.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    limit        jobs to fail, and buckets to look at, at most
    keep_age     ms that results live
    keep_count   how many of them
    reason       why
  Returns { jobs that failed, what is left: buckets with something waiting or kept, and runs }.
]]
--- @include "lib/wake"
--- @include "lib/end_job"

return function(ARGV)
  local limit, age, count, reason = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
  load_type(ARGV[1])
  local failed = 0
  for _, where in ipairs({ key_ready, key_due }) do
    for _, tenant in ipairs(call('ZRANGE', where, 0, limit - 1)) do
      local b = load_bucket(tenant)
      for _, set in ipairs({ b.prioritized, b.delayed }) do
        local ids = failed < limit and call('ZRANGE', set, 0, limit - failed - 1) or {}
        for _, id in ipairs(ids) do
          if end_waiting(b, id, 'failed', age, count, reason) then failed = failed + 1 end
        end
      end
      place_anew(b)
    end
  end
  save()
  local left = call('ZCARD', key_ready) + call('ZCARD', key_due) + call('ZCARD', key_results) + call('HLEN', key_running)
  return { failed, left }
end
