--[[
  The algorithms, by the letter that stands for them in ARGV; how a limit is read from there.

  Each: `read(limit, now)` finds out whether the call fits, and whether the clock has `stepped` back; `charge(limit, now)`
  takes what the call takes; `heal(limit, now)` brings what stands in the future to now; `report(limit, now)` gives
  remaining, next, wait and held; `refund(limit, now, taken_at, held)` gives back.
]]
--- @include "lib/token_bucket"
--- @include "lib/sliding_log"
--- @include "lib/sliding_counter"

local ALGORITHMS = {
  b = { read = read_bucket, charge = charge_bucket, heal = save_bucket, report = report_bucket, refund = refund_bucket },
  l = { read = read_log, charge = charge_log, heal = heal_log, report = report_log, refund = refund_log },
  c = { read = read_counter, charge = charge_counter, heal = save_counter, report = report_counter,
    refund = refund_counter },
}

-- What texts of ARGV state. Policies are few and calls are many: to read the same numbers again took 1 µs of each.
local MOST_STATED = 1000
local stated, stated_count = {}, 0

-- The limits of the call at hand, used again by the next: `read` sets all that an algorithm keeps in one.
local limits = {}

local function read_statement(text)
  local mark, letter, take, quota, interval = string.match(text, '^([+?]?)(%l) (%S+) (%S+) (%S+)$')
  local algorithm = ALGORITHMS[letter or '']
  take, quota, interval = positive(take), positive(quota), positive(interval)
  if not (algorithm and take and quota and interval) or take > quota then return nil end
  if stated_count == MOST_STATED then stated, stated_count = {}, 0 end
  local statement = { mark = mark, algorithm = algorithm, take = take, quota = quota, interval = interval }
  stated[text], stated_count = statement, stated_count + 1
  return statement
end

-- Makes limits[i] what a text states. Fails on one that states no limit, or one that can never hold the call.
local function take_limit(i, key, text)
  local statement = stated[text] or read_statement(text)
  if not statement then error('ERR an argument is out of range', 0) end
  local limit = limits[i]
  if not limit then
    limit = {}
    limits[i] = limit
  end
  limit.key, limit.algorithm = key, statement.algorithm
  limit.take, limit.quota, limit.interval = statement.take, statement.quota, statement.interval
  return statement.mark
end
