--[[
  tallies: the counts of the latest moments, this one first. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    slots        how many moments
  Returns { ms since 1970 at which this moment began (text), ms that each is long, fields and counts of each … }.
]]
--- @include "lib/tallies"

return function(ARGV)
  load_type(ARGV[1])
  local slot = slot_now()
  local found = { num(slot * SLOT_MS), SLOT_MS }
  for back = 0, tonumber(ARGV[2]) - 1 do found[#found + 1] = call('HGETALL', tallies_key(slot - back)) end
  return found
end
