--[[
  BullMQ's own end of a job that ran. It keeps what ended: what goes is up to lib/end_job.
]]
--- @include "lib/bucket"
--- @bull moveToFinished

-- To BullMQ's scripts: the caller has checked the lock itself (…:running says who holds it) and removes it.
local NO_LOCK = '0'

-- BullMQ's KEYS and ARGV: the same tables for all jobs of a shard.
local finish_keys, finish_arguments

local function begin_finishing()
  if finish_keys and finish_keys[4] == key_events then return end
  finish_keys = { never, '', never, key_events, never, never, never, never, never, never, '', '', never, never }
  finish_arguments = { '', '', '', '', '', '0', '', { token = NO_LOCK, keepJobs = { count = -1 }, maxMetricsSize = '' }, '' }
end

-- `set` is what the job joins, of the name `target`; `property` of its hash becomes `value`, after `made` attempts of `attempts`.
local function finish_job(b, job, id, set, target, property, value, made, attempts)
  local keys, arguments, options = finish_keys, finish_arguments, finish_arguments[8]
  keys[2], keys[11], keys[12] = b.active_key, set, job
  arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], arguments[7] =
    id, now_ms, property, value, target, b.prefix
  options.made, options.attempts = made, attempts
  bull_moveToFinished(keys, arguments)
end
