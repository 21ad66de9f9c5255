--[[
  Counts of what became of jobs at the door, over all processes of the API: a hash for every SLOT of time, which expires.
  Fields are the counter's own, so many at most.
]]
--- @include "lib/type"

local SLOT_MS = 5000

local function slot_now()
  return math.floor(now_ms / SLOT_MS)
end

local function tallies_key(slot)
  return tag .. ':door:' .. num(slot)
end
