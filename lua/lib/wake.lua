--[[
  Tell idle workers that there is something to do earlier than they know. They know what a dispatch told them: when the
  first due bucket may start. So a message goes out only when something became ready where nothing was, when the first
  due instant moved forward, or when the type is below its concurrency again: those turned away at it know nothing.
]]
--- @include "lib/place"

local woken

local function begin_wakes()
  woken = false
end

local function wake()
  if not woken then call('SPUBLISH', key_wake, 'wake') end
  woken = true
end

local function wake_if_earlier()
  local freed = ty.capped == 1 and ty.running < ty.conc
  if freed then ty.capped = 0 end
  if freed or due_earlier or (became_ready and ty.busy > 0) then wake() end
end

-- What was freed is not taken by the script itself: somebody else must come for what is ready.
local function wake_if_ready()
  if ty.busy > 0 then wake() else wake_if_earlier() end
end
