--[[
  A job as it is offered at the door, of `offered.WIDTH` arguments: id, name, priority (BullMQ's, 1 … 10), delay (ms), cost,
  data (JSON), options (JSON), idempotency key (hash) or "", digest of the request or "", start-by (ms since 1970) or "",
  request id or "", instant (ms since 1970) at which it joins the queue, in place of the delay, or "", who wants to be told
  of its end (see lib/outbox) or "".
]]
--- @include "lib/type"
--- @include "lib/json"

local offered = { WIDTH = 13 }

-- The job named an instant, by the server's own clock: from `delay_from` on that is a delay like any other.
function offered.delay_until(job, run_at, delay_from)
  job.delay = math.max(0, math.ceil((us_of_unix_ms(run_at) + ty.offset - delay_from) / 1000))
  if job.delay == 0 then return end
  job.opts = json_decode(job.opts.json)
  job.opts.delay = job.delay
end

-- The job whose arguments begin at `at`.
function offered.read(ARGV, at, delay_from)
  local start_by = tonumber(ARGV[at + 9])
  local job = {
    id = ARGV[at], name = ARGV[at + 1], priority = tonumber(ARGV[at + 2]), delay = tonumber(ARGV[at + 3]),
    cost = tonumber(ARGV[at + 4]), data = ARGV[at + 5], bytes = #ARGV[at + 5],
    opts = { priority = ARGV[at + 2], delay = ARGV[at + 3], json = ARGV[at + 6] }, idem = ARGV[at + 7], digest = ARGV[at + 8],
    start_by = start_by and us_of_unix_ms(start_by) + ty.offset, start_by_text = ARGV[at + 9], request = ARGV[at + 10],
    hook = ARGV[at + 12],
  }
  local run_at = tonumber(ARGV[at + 11])
  if run_at then offered.delay_until(job, run_at, delay_from) end
  return job
end
