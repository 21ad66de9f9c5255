--[[
  survey: the state of several buckets, for whoever looks at many. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    tenants...   percent-encoded
  Returns for each, in their order, what lib/bucket_state says, and behind it { 1 while nothing of it starts because it is
  paused, µs for which its upstream holds it, µs by which its next start is late, ms for which the job has waited that waits
  longest (-1: none does) }.
]]
--- @include "lib/bucket_state"
--- @include "lib/json"

-- No start is late by more than workers have been wanting.
local function late_us(b, waiting)
  if waiting == 0 or b.where ~= READY or ty.busy == 0 then return 0 end
  return whole_us(math.min(now - startable_at(b), now - ty.busy))
end

-- Since it was admitted, fell due or was last started, whichever came last; ms since 1970.
local function waits_since(b, id)
  local f = call('HMGET', b.prefix .. id, 'timestamp', 'processedOn', 'opts')
  local is_json, opts = pcall(json_decode, f[3] or '')
  local delay = is_json and type(opts) == 'table' and tonumber(opts.delay) or 0
  return math.max((tonumber(f[1]) or math.huge) + delay, tonumber(f[2]) or 0)
end

-- Of each priority, who is first has waited longest, but for one that was put there again.
local function longest_ms(b, waiting)
  local since = math.huge
  for p = 1, waiting > 0 and 10 or 0 do
    if b.w[p] > 0 or b.paid > 0 then
      local first, past = num(p * 0x100000000), '(' .. num((p + 1) * 0x100000000)
      local head = call('ZRANGEBYSCORE', b.prioritized, first, past, 'LIMIT', '0', '1')[1]
      if head then since = math.min(since, waits_since(b, head)) end
    end
  end
  return since < math.huge and math.max(0, tonumber(now_ms) - since) or -1
end

return function(ARGV)
  load_type(ARGV[1])
  local surveyed = {}
  for i = 2, #ARGV do
    local b = load_bucket(ARGV[i])
    local state = bucket_state(b)
    state[10], state[11], state[12] = b.paused and 1 or 0, whole_us(b.held - now), late_us(b, state[2])
    state[13] = longest_ms(b, state[2])
    surveyed[i - 1] = state
  end
  return surveyed
end
