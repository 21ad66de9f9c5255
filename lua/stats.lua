--[[
  stats: a type as a whole, over all tenants. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
  Returns { buckets that wait for their rate, a delay or an event, buckets that are ready, jobs that run, cost served per
  second (text), µs of a mean run (0: nobody has measured), µs for which workers have been scarce (-1: they are not) }.
]]
--- @include "lib/eta"

return function(ARGV)
  load_type(ARGV[1])
  local scarce_for = ty.busy > 0 and now - ty.busy - SCARCE_AFTER_US or 0
  return {
    call('ZCARD', key_due), call('ZCARD', key_ready), call('HLEN', key_running), num(served_per_second()), whole_us(mean_run()),
    scarce_for > 0 and whole_us(scarce_for) or -1,
  }
end
