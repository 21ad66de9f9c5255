--[[
  What a worker is handed of a job's hash, in this order: data, opts, timestamp, processedOn, ats, atm, hg:c, hg:n, hg:r, hg:u
  and hg:w; false for what it does not have. Behind them stands what only its start needs to know: priority, hg:p and hg:s.
  (HGETALL makes two texts of each field, and of many that nobody asks for.)
]]
--- @include "lib/shard"

local HANDED = 11

local function read_handed(job)
  return call('HMGET', job, 'data', 'opts', 'timestamp', 'processedOn', 'ats', 'atm', 'hg:c', 'hg:n', 'hg:r', 'hg:u', 'hg:w',
    'priority', 'hg:p', 'hg:s')
end

-- As lib/dispatch_next replies.
local function handed(tenant, id, fields)
  return { 'job', '', tenant, id, unpack(fields, 1, HANDED) }
end
