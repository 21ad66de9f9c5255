--[[
  progress: store how far a running job is.

  FLAGS allow-oom
  ARGV
    token        under which the job was dispatched
    progress     JSON
  Returns 1, or 0 when the job is no longer this worker's.
]]
--- @include "lib/running_job"
--- @bull updateProgress

return function(ARGV)
  local held = call('HGET', key_running, ARGV[1])
  if not held then return 0 end
  local tenant, id = run_of(held)
  bull_updateProgress({ tag .. ':q:' .. tenant .. ':' .. id, key_events, never }, { id, ARGV[2] })
  return 1
end
