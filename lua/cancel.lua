--[[
  cancel: end a job that has not started, or ask a running one to stop; whoever settles decides.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenant       percent-encoded
    id           of the job
    keep_age     ms that results live
    keep_count   how many of them
  Returns cancelled | cancel_requested | already_ended | not_found.
]]
--- @include "lib/wake"
--- @include "lib/end_job"

return function(ARGV)
  local id = ARGV[3]
  load_type(ARGV[1])
  local b = load_bucket(ARGV[2])
  local job = b.prefix .. id
  if call('EXISTS', job) == 0 then return 'not_found' end
  if end_waiting(b, id, 'cancelled', tonumber(ARGV[4]), tonumber(ARGV[5])) then
    place_anew(b)
    wake_if_earlier()
    save()
    return 'cancelled'
  end
  if call('HEXISTS', job, 'finishedOn') == 1 then return 'already_ended' end
  call('HSET', job, 'hg:x', '1')
  call('SPUBLISH', key_wake, 'cancel ' .. id)
  return 'cancel_requested'
end
