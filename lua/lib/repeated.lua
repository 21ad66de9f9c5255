--[[
  A reply that was lost must lose nothing: a dispatch is known by its token. `held` is what …:running has
  under it; answers that job, its lock made fresh, or nil.
]]
--- @include "lib/running_job"
--- @include "lib/handed_job"

local function dispatched_before(held, token, lock_ms)
  if not held then return nil end
  local tenant, id = run_of(held)
  local job = tag .. ':q:' .. tenant .. ':' .. id
  call('SET', job .. ':lock', token, 'PX', lock_ms)
  return handed(tenant, id, read_handed(job))
end
