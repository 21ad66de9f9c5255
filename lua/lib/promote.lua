--[[
  Delayed jobs that fell due join what waits, in the order in which they fell due, a retry where its type wants it; at most
  `limit` of them. BullMQ's own promotion does the same without counting their cost, so it is never left anything to do.
]]
--- @include "lib/join_waiting"

local function promote_due(b, limit)
  if b.delayed_at > now then return end
  local due_until = (tonumber(now_ms) + 1) * 0x1000 - 1
  local ids = call('ZRANGEBYSCORE', b.delayed, 0, num(due_until), 'LIMIT', 0, limit)
  b.delayed_changed = true
  if #ids == 0 then return end
  call('ZREM', b.delayed, unpack(ids))
  for _, id in ipairs(ids) do
    local job = b.prefix .. id
    local fields = call('HMGET', job, 'priority', 'hg:c', 'hg:p', 'hg:f')
    -- Without its hash there is nothing left of the job.
    if fields[1] then
      join_waiting(b, id, fields, fields[4], 'delayed')
      call('HSET', job, 'delay', 0)
      if fields[4] then call('HDEL', job, 'hg:f') end
    end
  end
end
