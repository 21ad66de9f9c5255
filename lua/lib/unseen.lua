--[[
  Ends of jobs of which no worker and no caller knows: a job expires in a script of whoever touches its type next, one that
  stalled too often ends in the script that takes it back. They stand in …:unseen, UNSEEN values each, until a sweep hands
  them to a process that has a log: one line each, by whichever it is. Of what nobody comes for, the oldest go.

  An end is: tenant, id, ending, reason, at (ms since 1970), and of the job's hash timestamp, processedOn, opts, atm and hg:r,
  "" where it has none. It is noted before the job's hash changes, or goes.
]]
--- @include "lib/bucket"

local UNSEEN, MAX_UNSEEN = 10, 10000

local function note_unseen(b, id, ending, reason)
  local f = call('HMGET', b.prefix .. id, 'timestamp', 'processedOn', 'opts', 'atm', 'hg:r')
  local key = tag .. ':unseen'
  local length = call('RPUSH', key, b.tenant, id, ending, reason, now_ms, f[1] or '', f[2] or '', f[3] or '', f[4] or '',
    f[5] or '')
  if length > MAX_UNSEEN * UNSEEN then call('LTRIM', key, UNSEEN, -1) end
end

-- The oldest `limit` of them, which are forgotten here.
local function take_unseen(limit)
  local key = tag .. ':unseen'
  local ends = call('LRANGE', key, 0, limit * UNSEEN - 1)
  if #ends > 0 then call('LTRIM', key, #ends, -1) end
  return ends
end
