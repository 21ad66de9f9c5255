--[[
  survey: the state of several buckets, for whoever looks at many. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenants...   percent-encoded
  Returns for each, in their order, what lib/bucket_state says, and behind it { 1 while nothing of it starts because it is
  paused, µs for which its upstream holds it, µs by which its next start is late, the job that starts next ("" for none) }.
]]
--- @include "lib/bucket_state"

-- No start is late by more than workers have been wanting.
local function late_us(b, waiting)
  if waiting == 0 or b.where ~= READY or ty.busy == 0 then return 0 end
  return whole_us(math.min(now - startable_at(b), now - ty.busy))
end

return function(ARGV)
  load_type(ARGV[1])
  local surveyed = {}
  for i = 2, #ARGV do
    local b = load_bucket(ARGV[i])
    local state = bucket_state(b)
    local head = state[2] > 0 and call('ZRANGE', b.prioritized, '0', '0')[1] or ''
    state[10], state[11], state[12] = b.paused and 1 or 0, whole_us(b.held - now), late_us(b, state[2])
    state[13] = head
    surveyed[i - 1] = state
  end
  return surveyed
end
