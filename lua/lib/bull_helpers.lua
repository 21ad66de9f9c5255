--[[
  What BullMQ's scripts need not ask, and need not write. In each of them, these take the place of its own helpers of the
  same names (src/redis/script-source).

  Pauses, concurrency and the clock are Headgate's, and no queue's meta says otherwise: such commands are refused. Nobody
  waits for a marker: workers are told (lib/wake). Delayed jobs that fell due have been promoted before (lib/promote).
]]
--- @include "lib/json"
--- @include "lib/shard"

-- Arguments that BullMQ packs for its scripts are handed over as they are, options of a job with the JSON that is stored of
-- them.
local cmsgpack = { unpack = function(arguments) return arguments end }
local cjson = { encode = function(value) return value.json or json_encode(value) end, decode = json_decode }

local function getQueueMetadata() return false end
local function isQueuePausedOrMaxed() return false end
local function addBaseMarkerIfNeeded() end
local function addDelayMarkerIfNeeded() end
local function promoteDelayedJobs() end

local function getOrSetMaxEvents() return '10000' end
-- Whatever makes a job wait trims the events, so what ends one need not.
local function trimEvents() end
