--[[
  A job that was running waits again: at the front of its own priority (stalled, handed back), or at the back. BullMQ
  alone would put it before all priorities, or always at the back. Its lock is the caller's business.
]]
--- @include "lib/bucket"

local function give_back(b, id, front)
  local job = b.prefix .. id
  local f = call('HMGET', job, 'priority', 'hg:c', 'hg:p')
  local priority = tonumber(f[1]) or 5
  call('LREM', b.active_key, '-1', id)
  local order = front and 0 or call('INCR', b.prefix .. 'pc') % 0x100000000
  call('ZADD', b.prioritized, num(priority * 0x100000000 + order), id)
  count_waiting(b, 1, priority, tonumber(f[2]) or 1, f[3])
  count_bytes(b, 1, call('HSTRLEN', job, 'data'))
  call('XADD', key_events, 'MAXLEN', '~', 10000, '*', 'event', 'waiting', 'jobId', id, 'prev', 'active')
end
