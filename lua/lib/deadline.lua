--[[
  Jobs with a startBy, in …:expire under that instant until they start or end. ty.expiry is the first of these instants,
  so that nobody looks while none has come.
]]
--- @include "lib/type"

local function set_deadline(b, id, at)
  call('ZADD', key_expire, num(at), b.tenant .. ' ' .. id)
  ty.expiry = math.min(ty.expiry, at)
end

local function next_deadline()
  ty.expiry = tonumber(call('ZRANGE', key_expire, '0', '0', 'WITHSCORES')[2]) or math.huge
end

local function drop_deadline(b, id)
  if ty.expiry < math.huge and call('ZREM', key_expire, b.tenant .. ' ' .. id) == 1 then next_deadline() end
end
