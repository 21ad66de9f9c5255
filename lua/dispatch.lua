--[[
  dispatch: hand the fairest ready job of any tenant to a worker.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    token        of the lock, new for every dispatch; the same token is answered with the same job. It begins with the
                 name of the worker, and stands in the job as BullMQ's processedBy
    lock         ms that the lock lasts
    limit        how much at most is done in one call: buckets ripened, jobs promoted, jobs expired
    keep_age     ms that results live
    keep_count   how many of them
    floor        up to where virtual time has come in any shard, see lib/spread
    permit       to start the job with, see lib/spread; "" for none
  Returns what lib/dispatch_next says.
]]
--- @include "lib/end_job"
--- @include "lib/dispatch_next"
--- @include "lib/repeated"

return function(ARGV)
  local token, lock_ms, limit = ARGV[2], ARGV[3], tonumber(ARGV[4])
  load_type(ARGV[1])
  local again = dispatched_before(call('HGET', key_running, token), token, lock_ms)
  if again then return again end
  expire_overdue(limit, tonumber(ARGV[5]), tonumber(ARGV[6]))
  local reply = with_runs(dispatch_next, token, lock_ms, limit, ARGV[7], ARGV[8])
  save()
  return reply
end
