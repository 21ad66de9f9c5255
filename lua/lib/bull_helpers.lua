--[[
  What BullMQ's scripts need not ask, and need not write. In each of them, these take the place of its own helpers of the
  same names (src/redis/script-source).

  Pauses, concurrency and the clock are Headgate's, and no queue's meta says otherwise: such commands are refused. Nobody
  waits for a marker: workers are told (lib/wake). Delayed jobs that fell due have been promoted before (lib/promote).
]]
--- @include "lib/json"
--- @include "lib/handed_job"

-- Arguments that BullMQ packs for its scripts are handed over as they are, options of a job with the JSON that is stored of
-- them.
local cmsgpack = { unpack = function(arguments) return arguments end }
local cjson = { encode = function(value) return value.json or json_encode(value) end, decode = json_decode }

local function getQueueMetadata() return false end
local function isQueuePausedOrMaxed() return false end
local function addBaseMarkerIfNeeded() end
local function addDelayMarkerIfNeeded() end
local function promoteDelayedJobs() end

-- Options that ask for it are refused.
local function deduplicateJob() end
local function requeueDeduplicatedJob() end

local function getOrSetMaxEvents() return '10000' end
-- Whatever makes a job wait trims the events, so what ends one need not.
local function trimEvents() end

-- A new job's hash, with fields of Headgate's own in the same command.
local function storeJob(events, job, id, name, data, opts, timestamp)
  local fields = opts.fields
  opts.fields = nil
  call('HSET', job, 'name', name, 'data', data, 'opts', cjson.encode(opts), 'timestamp', timestamp, 'delay', opts.delay,
    'priority', opts.priority, unpack(fields))
  call('XADD', events, '*', 'event', 'added', 'jobId', id, 'name', name)
  return opts.delay, opts.priority
end

-- How many run since the last job was taken.
local active_now

local function moveJobFromPrioritizedToActive(prioritized, active_key, counter)
  local id = call('ZPOPMIN', prioritized)[1]
  if id then active_now = call('LPUSH', active_key, id) else call('DEL', counter) end
  return id
end

-- Who is answered knows how often the job started, and notes this start in its hash.
local function prepareJobForProcessing(prefix, _, events, id, _, _, _, _, opts)
  local job = prefix .. id
  call('SET', job .. ':lock', opts.token, 'PX', opts.lockDuration)
  call('XADD', events, '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
  return { read_handed(job), id, active_now }
end

-- The next job is one of any bucket.
local function fetchNextJob() end
