--[[
  recover: jobs whose lock ran out (their worker died, froze or was cut off) wait again, at the front of their priority;
  one that did so too often fails, one that was asked to stop is cancelled.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    cursor       of the walk over …:running; "0" at first
    count        how many entries to look at, about
    max_stalled  how often a job may stall
    keep_age     ms that results live
    keep_count   how many of them
    floor        see dispatch
  Returns { next cursor ("0": done), ids that wait again, ids that ended }.
]]
--- @include "lib/wake"
--- @include "lib/end_job"
--- @include "lib/finish_job"
--- @include "lib/give_back"
--- @include "lib/running_job"
--- @include "lib/spread"

-- Of the call under way.
local keep_age, keep_count, max_stalled, returned, ended

local function end_stalled(b, id, job, ending, reason, is_erased, hook, made)
  note_unseen(b, id, ending, reason)
  finish_job(b, job, id, b.prefix .. 'failed', 'failed', 'failedReason', reason, made, 0)
  tell_end(b, hook, id, ending, reason)
  if is_erased then forget(b, b.prefix .. 'failed', id) end
  keep_result(b, b.prefix .. 'failed', keep_age, keep_count)
  ended[#ended + 1] = id
end

local function take_back(token, tenant, id)
  local b = load_bucket(tenant)
  local job = b.prefix .. id
  call('HDEL', key_running, token)
  -- The token no longer says that its holder settled the job.
  call('HDEL', job, 'pb')
  local is_there, is_erased, hook, made = look_at(job)
  if not is_there then
    drop_missing(b, id)
  else
    local stalled = call('HINCRBY', job, 'stc', 1)
    if call('HEXISTS', job, 'hg:x') == 1 then
      call('HSET', job, 'hg:e', 'cancelled')
      end_stalled(b, id, job, 'cancelled', 'cancelled', is_erased, hook, made)
    elseif stalled > max_stalled then
      end_stalled(b, id, job, 'failed', 'stalled more than ' .. max_stalled .. ' times', is_erased, hook, made)
    else
      give_back(b, id, true)
      call('XADD', key_events, 'MAXLEN', '~', 10000, '*', 'event', 'stalled', 'jobId', id)
      returned[#returned + 1] = id
    end
  end
  place_anew(b)
end

return function(ARGV)
  max_stalled, keep_age, keep_count = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  returned, ended = {}, {}
  load_type(ARGV[1])
  local page = call('HSCAN', key_running, ARGV[2], 'COUNT', ARGV[3])
  local touched = false
  for i = 1, #page[2], 2 do
    local tenant, id = run_of(page[2][i + 1])
    if call('EXISTS', tag .. ':q:' .. tenant .. ':' .. id .. ':lock') == 0 then
      take_back(page[2][i], tenant, id)
      touched = true
    end
  end
  if touched then
    end_busy_period(ARGV[7])
    wake_if_ready()
    save()
  end
  return { page[1], returned, ended }
end
