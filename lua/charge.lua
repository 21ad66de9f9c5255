--[[
  charge: a job that runs costs what is now known, up or down. The last word counts; the same word again changes nothing.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    token        under which the job was dispatched
    cost         units, 0.001 to 10,000
  Returns { 1, its permit }, or { 0, '' } when the job is no longer this worker's.
]]
--- @include "lib/wake"
--- @include "lib/running_charge"

return function(ARGV)
  local token, cost = ARGV[2], tonumber(ARGV[3])
  if not (cost and cost >= 0.001 and cost <= 10000) then return redis.error_reply('ERR a cost of ' .. ARGV[3]) end
  local entry = call('HGET', key_running, token)
  if not entry then return { 0, '' } end
  local tenant, id = run_of(entry)
  local job = tag .. ':q:' .. tenant .. ':' .. id
  local f = call('HMGET', job, 'priority', 'hg:c', 'hg:p')
  if not f[1] then return { 0, '' } end
  local units, paid = cost - (tonumber(f[2]) or 1), tonumber(f[3] or nil)
  if units == 0 then return { 1, permit.of(entry) } end

  load_type(ARGV[1])
  local b, marks = load_bucket(tenant), marks_of(entry)
  if paid then
    b.tat, paid = corrected(units * b.T, paid, b.tat, now)
    call('HSET', job, 'hg:p', num(paid))
  end
  correct_start(b, units, marks, paid)
  call('HSET', job, 'hg:c', num(cost))
  enter_run(token, tenant, id, permit.of(entry), marks.tat, marks.jtat, marks.type_tat, marks.finish, marks.started)
  keep_runs()
  move_start_tag(b, units)
  place_anew(b)
  wake_if_earlier()
  save()
  return { 1, permit.of(entry) }
end
