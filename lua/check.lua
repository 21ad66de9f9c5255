--[[
  check: decide whether calls conform to their limits, and charge those that do. Calls are decided one after another, as
  if each had come alone; the limits of one call together: refused by one, charged to none. A refused call and a peek
  change nothing, but that a call brings back to now what a clock that stepped back has left in the future.

  KEYS  of the limits of all calls
  ARGV
    now         µs since 2025-01-01; "" for the server's clock
    calls...    two for each run of calls that state the same: how many they are, and the limits of each, with commas
                between them and ? before the first when the calls are peeks. A limit: a letter, what the call takes, what
                the limit holds, its interval; blanks between them
                  b  token bucket: µs that the call fills, µs that fill it, µs per unit
                  l  sliding-window log, and c  sliding-window counter: millionths of a unit, the same, µs of the window
  Returns a flat list: now, then per call
    1 conforming, 0 limited; then per limit: of a bucket the ns in which what it holds leaks away, of others millionths of
      a unit that remain, and µs until a whole unit more does (0: the limit is whole); and when limited, µs until the call
      passes (0: this limit lets it pass now)
    or -1 and an error, and nothing else: an argument of that call is out of range, or its keys hold something else.
      Nothing of it was written.
]]
--- @include "lib/limits"

-- What was answered, up to which place, and the place before the first key of the next call: kept here, so that what fails
-- in one call is known to be of that call.
local reply, answered, first

local function take_call(statement, size, fits, now)
  for i = 1, size do
    local limit = statement[i]
    if fits then
      limit.algorithm.charge(limit, now)
    elseif limit.stepped then
      limit.algorithm.heal(limit, now)
    end
  end
end

local function answer_call(statement, size, fits, now)
  local n = answered + 1
  reply[n] = fits and 1 or 0
  for i = 1, size do
    local limit = statement[i]
    n = limit.algorithm.report(limit, now, reply, n)
    if not fits then
      n = n + 1
      reply[n] = limit.fits and 0 or whole_wait(limit.algorithm.wait(limit, now))
    end
  end
  answered = n
end

-- Decides the calls of a run up to the one whose last key is `last`; charges all limits of a call or none.
local function decide_calls(statement, last, now)
  local size = statement.size
  while first < last do
    take_limits(statement, first)
    local fits = true
    for i = 1, size do
      local limit = statement[i]
      limit.algorithm.read(limit, now)
      fits = fits and limit.fits
    end
    if not statement.is_peek then take_call(statement, size, fits, now) end
    answer_call(statement, size, fits, now)
    first = first + size
  end
end

-- Calls and statements by turns, with the keys that they take; nil when they are not those that were given.
local function read_runs(argv)
  local runs, keys = {}, 0
  for i = 2, #argv, 2 do
    local calls, statement = positive(argv[i]), argv[i + 1] and read_statement(argv[i + 1])
    if not calls or calls % 1 ~= 0 or not statement then return nil end
    keys = keys + calls * statement.size
    runs[#runs + 1] = { statement = statement, last = keys }
  end
  return keys == #limit_keys and runs or nil
end

return function(ARGV)
  local now = limit_clock(ARGV[1])
  local runs = now and read_runs(ARGV)
  if not runs then return redis.error_reply('ERR check: its arguments are incomplete') end
  reply, answered, first = { now }, 1, 0
  for _, run in ipairs(runs) do
    while first < run.last do
      local decided, failure = pcall(decide_calls, run.statement, run.last, now)
      if not decided then
        reply[answered + 1], reply[answered + 2] = -1, type(failure) == 'table' and failure.err or failure
        answered, first = answered + 2, first + run.statement.size
      end
    end
  end
  return reply
end
