--[[
  A job that was running waits again: at the front of its own priority (stalled, handed back), or at the back. Its lock is
  the caller's business.
]]
--- @include "lib/join_waiting"

local function give_back(b, id, front)
  local job = b.prefix .. id
  call('LREM', b.active_key, '-1', id)
  join_waiting(b, id, call('HMGET', job, 'priority', 'hg:c', 'hg:p'), front, 'active')
  count_bytes(b, 1, call('HSTRLEN', job, 'data'))
end
