--[[
  holders: which permits the runs of a shard hold. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    ids...       of permits
  Returns { µs since 2025-01-01 by this shard's clock (text), those of the ids that no run holds, tokens of the runs without a
  permit }. A permit whose instant has passed by that clock and that no run holds can start nothing any more.
]]
--- @include "lib/running_job"

return function(ARGV)
  load_type(ARGV[1])
  local held, without, idle = {}, {}, {}
  local entries = call('HGETALL', key_running)
  for i = 1, #entries, 2 do
    local held_by = permit.of(entries[i + 1])
    if held_by == '' then
      held_by = entries[i]
      without[#without + 1] = held_by
    end
    held[held_by] = true
  end
  for i = 2, #ARGV do
    if not held[ARGV[i]] then idle[#idle + 1] = ARGV[i] end
  end
  return { num(now), idle, without }
end
