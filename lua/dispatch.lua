--[[
  dispatch: hand the fairest ready job of any tenant to a worker.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    token        of the lock, new for every dispatch; the same token is answered with the same job
    lock         ms that the lock lasts
    worker       name of the worker
    limit        how much at most is done in one call: buckets ripened, jobs promoted, jobs expired
    keep_age     ms that results live
    keep_count   how many of them
  Returns what lib/dispatch_next says.
]]
--- @include "lib/end_job"
--- @include "lib/dispatch_next"
--- @include "lib/repeated"

local token, lock_ms, worker, limit = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

load_type(ARGV[1])
local again = dispatched_before(token, lock_ms)
if again then return again end
expire_overdue(limit, tonumber(ARGV[6]), tonumber(ARGV[7]))
local reply = dispatch_next(token, lock_ms, worker, limit)
save_type()
return reply
