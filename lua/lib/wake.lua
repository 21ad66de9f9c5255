--[[
  Tell idle workers that there is something to do earlier than they know. They know what a dispatch told them: when the
  first due bucket may start. So a message goes out only when something became ready where nothing was, when the first
  due instant moved forward, or when the type is below its concurrency again: those turned away at it know nothing.
]]
--- @include "lib/type"

local head_before, ready_before

local function due_head()
  return tonumber(call('ZRANGE', key_due, 0, 0, 'WITHSCORES')[2]) or math.huge
end

local function watch_schedule()
  head_before, ready_before = due_head(), call('EXISTS', key_ready)
end

local function wake()
  call('PUBLISH', key_wake, 'wake')
end

local function wake_if_earlier()
  local freed = ty.capped == 1 and ty.running < ty.conc
  if freed then ty.capped = 0 end
  if freed or (ready_before == 0 and call('EXISTS', key_ready) == 1) or due_head() < head_before then wake() end
end
