--[[
  emit: store chunks of a running job's output in a stream of its own, and tell those who follow the job. An entry's id is
  <run>-<number of the chunk in that run>, run being how often the job was started: whoever has read up to one id goes on
  after it, in any process, and a repeated call stores nothing twice. A new run's output takes the place of the former one's.

  FLAGS allow-oom
  ARGV
    token        under which the job was dispatched
    first        number of the first of these chunks, from 1
    chunks...    JSON each
  Returns 1; 0 when the job is no longer this worker's; -1 when the run has emitted too much, and nothing of this was stored.
]]
--- @include "lib/running_job"

-- Bytes that one run may emit, and what each chunk counts beside its text.
local LARGEST_OUTPUT, CHUNK_OVERHEAD = 1048576, 8

-- How many chunks of this run are stored.
local function stored_of(output, run)
  local last = call('XREVRANGE', output, '+', '-', 'COUNT', 1)[1]
  if not last then return 0 end
  local last_run, number = string.match(last[1], '^(%d+)-(%d+)$')
  if last_run == run then return tonumber(number) end
  call('DEL', output)
  return 0
end

return function(ARGV)
  local held = call('HGET', key_running, ARGV[1])
  if not held then return 0 end
  local tenant, id = run_of(held)
  local job = tag .. ':q:' .. tenant .. ':' .. id
  local run, output = call('HGET', job, 'ats'), job .. ':output'
  if not run then return 0 end
  local stored, before = stored_of(output, run), tonumber(ARGV[2]) - 1
  local bytes = stored > 0 and tonumber(call('HGET', job, 'hg:o')) or 0
  local next_chunk = math.max(3, stored - before + 3)
  for i = next_chunk, #ARGV do bytes = bytes + #ARGV[i] + CHUNK_OVERHEAD end
  if bytes > LARGEST_OUTPUT then return -1 end
  for i = next_chunk, #ARGV do call('XADD', output, run .. '-' .. num(before + i - 2), 'c', ARGV[i]) end
  call('HSET', job, 'hg:o', num(bytes))
  call('XADD', key_events, 'MAXLEN', '~', 10000, '*', 'event', 'output', 'jobId', id)
  return 1
end
