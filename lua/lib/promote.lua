--[[
  Delayed jobs that fell due join what waits, in the order in which they fell due; at most `limit` of them. BullMQ's own
  promotion does the same without counting their cost, so it is never left anything to do.
]]
--- @include "lib/bucket"

local function promote_due(b, limit)
  if b.delayed_at > now then return end
  local due_until = (tonumber(now_ms) + 1) * 0x1000 - 1
  local ids = call('ZRANGEBYSCORE', b.delayed, 0, num(due_until), 'LIMIT', 0, limit)
  b.delayed_changed = true
  if #ids == 0 then return end
  call('ZREM', b.delayed, unpack(ids))
  for _, id in ipairs(ids) do
    local job = call('HMGET', b.prefix .. id, 'priority', 'hg:c', 'hg:p')
    local priority = tonumber(job[1])
    -- Without its hash there is nothing left of the job.
    if priority then
      local count = call('INCR', b.prefix .. 'pc')
      call('ZADD', b.prioritized, num(priority * 0x100000000 + count % 0x100000000), id)
      count_waiting(b, 1, priority, tonumber(job[2]) or 1, job[3])
      call('HSET', b.prefix .. id, 'delay', 0)
      call('XADD', key_events, '*', 'event', 'waiting', 'jobId', id, 'prev', 'delayed')
    end
  end
end
