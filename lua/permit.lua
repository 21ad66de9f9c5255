--[[
  permit: take the permit to start one job in some shard of the type, and tell what became of others.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    id           of the permit, never used before; "" to take none
    shard        in which the job stands
    until        µs since 2025-01-01 by the clock of that shard: until then it may start
    cost         units of the job
    changes...   three values each: id of a permit, what its job costs ("": as it did), and end | keep. What ends more than
                 once ends once
  Returns { 'none' } where none was to be taken, { 'granted' }, { 'wait', µs } (-1: until an event), or { 'count', epoch } where
  somebody must first tell of what runs without one (adopt).
]]
--- @include "lib/permits"

local function take_permit(id, shard, valid_until, cost)
  if call('HEXISTS', key_permits, id) == 1 then return { 'granted' } end
  if total.counted == 0 then return { 'count', total.epoch } end
  if total.paused then return { 'wait', -1 } end
  if not has_slot() then
    total.full = 1
    return { 'wait', -1 }
  end
  local at = total_gate_at()
  if at > now then
    total.late = 1
    return { 'wait', whole_us(at - now) }
  end
  total.tat = math.max(total.tat, now - total.slack) + cost * total.T
  keep_permit(id, shard, valid_until, cost, total.tat)
  return { 'granted' }
end

return function(ARGV)
  local valid_until, cost = tonumber(ARGV[4]), tonumber(ARGV[5])
  if ARGV[2] ~= '' and not (valid_until and cost and cost >= 0 and cost <= 10000) then
    return redis.error_reply('ERR a permit until ' .. ARGV[4] .. ' of ' .. ARGV[5])
  end
  load_total(ARGV[1])
  for i = 6, #ARGV, 3 do change_permit(ARGV[i], ARGV[i + 1], ARGV[i + 2] == 'end') end
  local reply = { 'none' }
  if ARGV[2] ~= '' then reply = take_permit(ARGV[2], ARGV[3], valid_until, cost) end
  save_total()
  return reply
end
