--[[
  allot: the capacity of a type of several shards, told to its first shard once every shard knows whether it needs permits.
  Idempotent; a rate that changed keeps its level.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    T            µs per cost unit of the type; 0: unlimited; without end (a rate of 0): nothing starts
    burst        units
    conc         jobs that may run at once
    slack        µs
    limited      1: one of them is a limit; "" else
  Returns { 'ok' }, or { 'count', epoch } where somebody must tell of what runs without a permit (adopt).
]]
--- @include "lib/permits"

return function(ARGV)
  load_total(ARGV[1])
  local T, limited = tonumber(ARGV[2]), ARGV[6] == '1' and 1 or 0
  local paused = T == math.huge
  if paused then T = total.T end
  if total.T > 0 and T ~= total.T and total.tat > now then total.tat = now + (total.tat - now) * T / total.T end
  total.T, total.burst, total.conc, total.slack, total.paused =
    T, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), paused
  if limited == 1 and total.limited == 0 then total.epoch, total.counted = total.epoch + 1, 0 end
  if limited == 0 then total.counted = 1 end
  total.limited = limited
  -- Whoever waits goes by the old capacity.
  wake()
  save_total()
  return total.counted == 1 and { 'ok' } or { 'count', total.epoch }
end
