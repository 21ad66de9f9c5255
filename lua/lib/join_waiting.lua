--[[
  A job of this bucket, which stands in none of its sets, joins what waits: at the back of its own priority, or at the
  front. BullMQ alone would put some before all priorities. The job's payload is counted by the caller.
]]
--- @include "lib/bucket"

-- `fields` are priority, hg:c and hg:p of the job's hash; `from` is the state that it comes from.
local function join_waiting(b, id, fields, front, from)
  local priority = tonumber(fields[1]) or 5
  local order = front and 0 or call('INCR', b.prefix .. 'pc') % 0x100000000
  call('ZADD', b.prioritized, num(priority * 0x100000000 + order), id)
  count_waiting(b, 1, priority, tonumber(fields[2]) or 1, fields[3])
  call('XADD', key_events, 'MAXLEN', '~', 10000, '*', 'event', 'waiting', 'jobId', id, 'prev', from)
end
