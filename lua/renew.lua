--[[
  renew: keep the locks of what one worker runs in this shard.

  FLAGS allow-oom
  ARGV
    lock         ms that the locks last from now
    tokens...    under which the jobs were dispatched
  Returns { tokens lost, ids of jobs asked to stop }. A lock that ran out but that nobody took over is taken again.
]]
--- @include "lib/running_job"

return function(ARGV)
  local lost, asked = {}, {}
  for i = 2, #ARGV do
    local token = ARGV[i]
    local held = call('HGET', key_running, token)
    if held then
      local tenant, id = run_of(held)
      local job = tag .. ':q:' .. tenant .. ':' .. id
      call('SET', job .. ':lock', token, 'PX', ARGV[1])
      if call('HEXISTS', job, 'hg:x') == 1 then asked[#asked + 1] = id end
    else
      lost[#lost + 1] = token
    end
  end
  return { lost, asked }
end
