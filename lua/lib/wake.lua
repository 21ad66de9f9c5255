--[[
  Tell idle workers that there is something to do earlier than they know. They know what a dispatch told them: when the
  first due bucket may start. So a message goes out only when something became ready where nothing was, or when the
  first due instant moved forward.
]]
--- @include "lib/shard"

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
  if (ready_before == 0 and call('EXISTS', key_ready) == 1) or due_head() < head_before then wake() end
end
