--[[
  A reply that was lost must lose nothing: a dispatch is known by its token. Answers the job that `token` holds, its lock
  made fresh, or nil.
]]
--- @include "lib/shard"

local function dispatched_before(token, lock_ms)
  local held = call('HGET', key_running, token)
  if not held then return nil end
  local tenant, id = string.match(held, '^(%S+) (%S+)$')
  local job = tag .. ':q:' .. tenant .. ':' .. id
  call('SET', job .. ':lock', token, 'PX', lock_ms)
  return { 'job', tenant, id, call('HGETALL', job) }
end
