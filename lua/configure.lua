--[[
  configure: the type's capacity, and the version of the stored form. Idempotent; a rate that changed keeps its level.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    format       version of the stored form that the caller speaks
    T            µs per cost unit of the type; 0: unlimited; without end (a rate of 0): nothing starts
    burst        units
    conc         jobs that may run at once
    slack        µs
    shards       over how many the type is spread
    permits      1: nothing starts in this shard without a permit of its type, see lib/permits; "" where nothing needs one
  Returns 'ok', or { 'format', stored version } when the stored form is another one, or { 'shards', stored number } when the type is
  spread over another number of shards; then nothing was written.
]]
--- @include "lib/wake"

return function(ARGV)
  load_type(ARGV[1])
  local stored = call('HGET', key_type, 'format')
  if stored and stored ~= ARGV[2] then return { 'format', stored } end
  local shards = call('HGET', key_type, 'shards') or stored and '1' or ARGV[7]
  if shards ~= ARGV[7] then return { 'shards', shards } end
  local T = tonumber(ARGV[3])
  local paused = T == math.huge
  if paused then T = ty.T end
  if ty.T > 0 and T ~= ty.T and ty.tat > now then ty.tat = now + (ty.tat - now) * T / ty.T end
  ty.T, ty.burst, ty.conc, ty.slack, ty.paused = T, tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), paused
  call('HSET', key_type, 'format', ARGV[2], 'shards', ARGV[7])
  if ARGV[8] == '1' then call('HSET', key_type, 'permits', '1') else call('HDEL', key_type, 'permits') end
  -- Whoever waits goes by the old capacity: for its rate, or for an event that it has no more reason to wait for.
  wake()
  save()
  return 'ok'
end
