--[[
  The algorithms, by the letter that stands for them in ARGV; how the limits of a call are read from there.

  Each: `prepare(limit)` finds out what follows from the numbers of a limit; `read(limit, now)` finds out whether the call
  `fits`, and whether the clock has `stepped` back; `charge(limit, now)` takes what the call takes; `heal(limit, now)`
  brings what stands in the future to now; `report(limit, now, reply, n)` writes what is left behind place n of a reply,
  and gives the place of the last that it wrote; `wait(limit, now)` gives the µs until a call passes that does not fit;
  `refund(limit, now, taken_at, held)` gives back.
]]
--- @include "lib/token_bucket"
--- @include "lib/sliding_log"
--- @include "lib/sliding_counter"

local ALGORITHMS = {
  b = { prepare = prepare_bucket, read = read_bucket, charge = charge_bucket, heal = save_bucket, report = report_bucket,
    wait = bucket_wait, refund = refund_bucket },
  l = { prepare = prepare_log, read = read_log, charge = charge_log, heal = heal_log, report = report_log,
    wait = log_wait, refund = refund_log },
  c = { prepare = prepare_counter, read = read_counter, charge = charge_counter, heal = save_counter, report = report_counter,
    wait = counter_wait, refund = refund_counter },
}

-- What statements come to. Policies are few and calls are many: to read the same numbers again took 1 µs of each.
local MOST_STATED = 1000
local stated, stated_count = {}, 0

-- One limit, and the state that an algorithm keeps in it for the call at hand; nil when it is none, or can never hold
-- the call.
local function read_limit(text)
  local letter, take, quota, interval = string.match(text, '^(%l) (%S+) (%S+) (%S+)$')
  local algorithm = ALGORITHMS[letter or '']
  take, quota, interval = positive(take), positive(quota), positive(interval)
  if not (algorithm and take and quota and interval) or take > quota then return nil end
  local limit = { algorithm = algorithm, take = take, quota = quota, interval = interval }
  algorithm.prepare(limit)
  return limit
end

-- The limits of a call as a text states them, their number, and whether the call is a peek. What is no limit is false.
-- The same tables serve all calls of a statement, one after another: `read` sets all that is of one call.
local function read_statement(text)
  if stated[text] then return stated[text] end
  if stated_count == MOST_STATED then stated, stated_count = {}, 0 end
  local mark, rest = string.match(text, '^(%??)(.*)$')
  local statement = { is_peek = mark == '?', size = 0 }
  for each in string.gmatch(rest .. ',', '(.-),') do
    local size = statement.size + 1
    statement.size, statement[size] = size, read_limit(each) or false
  end
  stated[text], stated_count = statement, stated_count + 1
  return statement
end

-- Hands the limits of a statement the keys behind `first`. Fails on what is no limit, before anything of it is read.
local function take_limits(statement, first)
  for i = 1, statement.size do
    local limit = statement[i]
    if not limit then error('ERR an argument is out of range', 0) end
    limit.key = limit_keys[first + i]
  end
end
