--[[
  What was measured of the service that a type's jobs get, for promises where workers, slots or the type's rate are scarce.
  It stands packed behind the type's state and is unpacked only when something is scarce.

  Pace. While something has been ready for longer than SCARCE_AFTER, every start adds to four sums, in which the newest
  starts count most:
    span     time since the start before it
    work     what virtual time went on, times the weights of all that was ready: cost, as the ready buckets share it
    starts   1
    advance  what virtual time went on
  so virtual time goes on by (work / span) / weights, whoever is ready now. A job of a bucket starts when virtual time comes
  to its tag. They are kept over three windows, of about 256, 2,048 and 16,384 starts, and a wait of so many starts is measured
  by a window of as many: what holds for a moment says little of what is far, least of all where virtual time stands still
  for a round of thousands of buckets.

  Calibration. How far estimates miss is observed: for each band of them three factors, the 5 %, 50 % and 95 % points of
  (real wait / estimated wait), found by stochastic approximation (H. Robbins, S. Monro, A Stochastic Approximation Method,
  1951): each start moves a factor up or down, by steps that balance where that share of starts lies below it. The longer
  the waits of a band, the smaller its steps: jobs that wait at the same time err alike. Only multiplications, so that it
  is the same everywhere to the last bit. Twin: src/model/service.ts, which says more of the numbers.
]]
--- @include "lib/type"

local SCARCE_AFTER_US = 50000
-- Of runs, each leaves so much of what there was.
local KEEP = 255 / 256
-- Starts before a pace counts as measured.
local LEAST_STARTS = 8
-- Less work than any start does: what decay may leave.
local NO_WORK = 1e-6
-- Waits are compared with this much added to both: below it, nobody cares by what factor one is off.
local GRACE_US = 10000
local LEAST, MOST = 1e-6, 1e6
-- Bands by how many gaps between two starts an estimate is long: up to these many; the fifth has no end. The sixth: of a
-- job behind more urgent ones, however long.
local BANDS, BEHIND_URGENT = { 2, 8, 32, 128 }, 6
-- By band: the range before anything was observed, a step of its bounds, a 27th of that, and a step of the middle.
local WIDE = { 8, 4, 2.2, 1.5, 1.4, 12 }
local STEP = { 1.04, 1.03, 1.015, 1.006, 1.003, 1.02 }
local FINE_STEP = { 1.00145367, 1.00109537, 1.00055158, 1.00022158, 1.00011095, 1.0007337 }
local EVEN_STEP = { 1.0131594, 1.00990163, 1.00497521, 1.00199601, 1.000999, 1.00662271 }
-- Gaps up to which these steps are whole; of longer waits they are as much smaller. What is learned from a start is told to
-- jobs of whom it shows how right that was when as many have started as wait: with steps that add up to much in the
-- meantime, factors would swing ever further.
local WHOLE_UP_TO = { 1e9, 1e9, 1e9, 1e9, 256, 38 }

-- The n-th start of a band moves its factors by steps EARLY / n times as large, while that is more and up to MOST_STEP: small
-- steps alone would take thousands of starts to learn what a load is like that nobody has seen.
local EARLY, MOST_STEP = { 0, 0, 0, 0, 500, 0 }, 1.04

local SERVICE, NUMBERS = '<d' .. 'dddddddddddd' .. 'dddddddddddddddddddddddd', 37
-- Where they stand: the last start, the four sums of each window, then of each band the factors and how many starts moved them.
local STARTED, FIRST_FACTOR = 1, 14
-- A window: what each start leaves of what there was, the waits in starts that it is for, and where its sums stand.
local WINDOWS = {
  { keep = 255 / 256, most = 256, span = 2, work = 3, starts = 4, advance = 5 },
  { keep = 2047 / 2048, most = 2048, span = 6, work = 7, starts = 8, advance = 9 },
  { keep = 16383 / 16384, most = 1e300, span = 10, work = 11, starts = 12, advance = 13 },
}
local SHORT, LONG = WINDOWS[1], WINDOWS[3]
local service, observed

local function begin_service()
  service, observed = nil, false
end

local function factors_at(band)
  return FIRST_FACTOR + 4 * (band - 1)
end

local function load_service()
  if service then return service end
  -- What another version has left there is measured anew.
  if #ty.measured ~= 8 * NUMBERS then
    service = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
    for band, wide in ipairs(WIDE) do
      local at = factors_at(band)
      service[at], service[at + 1], service[at + 2], service[at + 3] = 1 / wide, 1, wide, 0
    end
  else
    service = { struct.unpack(SERVICE, ty.measured) }
  end
  return service
end

-- What was observed in this call is stored with the type.
local function keep_service()
  if observed then ty.measured = struct.pack(SERVICE, unpack(service, 1, NUMBERS)) end
end

-- A job starts, and virtual time goes on by `advance`.
local function measure_start(advance)
  local scarce_since = ty.busy + SCARCE_AFTER_US
  if ty.busy == 0 or now <= scarce_since then return end
  local s = load_service()
  local span, work = now - math.max(s[STARTED], scarce_since), advance * ty.weights
  for i = 1, #WINDOWS do
    local keep, at = WINDOWS[i].keep, WINDOWS[i].span
    s[at], s[at + 1], s[at + 2], s[at + 3] =
      s[at] * keep + span, s[at + 1] * keep + work, s[at + 2] * keep + 1, s[at + 3] * keep + advance
  end
  s[STARTED] = now
  observed = true
end

-- A run of a job ended that took `us`.
local function measure_run(us)
  ty.ran_us = ty.ran_us * KEEP + us
  ty.ran = ty.ran * KEEP + 1
end

local function has_pace()
  local s = load_service()
  return s[SHORT.starts] >= LEAST_STARTS and s[LONG.work] >= NO_WORK
end

-- µs between two starts; 0 before the first.
local function start_gap()
  local s = load_service()
  return s[SHORT.starts] > 0 and s[SHORT.span] / s[SHORT.starts] or 0
end

-- µs in which virtual time goes on by `advance` while what is ready now, and `joining` more, is ready by weight; where there is a pace.
local function turn_us(advance, joining)
  local s, weights, wait = load_service(), ty.weights + joining, nil
  for _, w in ipairs(WINDOWS) do
    if s[w.work] >= NO_WORK then wait = advance * weights * s[w.span] / s[w.work] end
    if wait and wait * s[w.starts] <= w.most * s[w.span] then break end
    -- Whoever is ready at this moment says less of a long wait than who was lately.
    weights = s[w.work] / math.max(s[w.advance], NO_WORK) + joining
  end
  return wait
end

local function mean_run()
  return ty.ran > 0 and ty.ran_us / ty.ran or 0
end

local function band_of(wait, gap)
  local band = 1
  while BANDS[band] and wait >= BANDS[band] * gap do band = band + 1 end
  return band
end

-- µs of the three points of a wait that was estimated, in its band.
local function calibrated(wait, band)
  local s, at = load_service(), factors_at(band)
  local each = wait + GRACE_US
  return math.max(0, each * s[at] - GRACE_US), math.max(0, each * s[at + 1] - GRACE_US), math.max(0, each * s[at + 2] - GRACE_US)
end

local function within(factor)
  return math.min(MOST, math.max(LEAST, factor))
end

local function scaled(step, scale)
  return 1 + (step - 1) * scale
end

-- A job of which `wait` was estimated starts after `real` µs.
local function observe(wait, band, real)
  local s, at = load_service(), factors_at(band)
  local factor = (real + GRACE_US) / (wait + GRACE_US)
  local seen = s[at + 3] + 1
  s[at + 3] = seen
  local scale = math.min(1, WHOLE_UP_TO[band] * start_gap() / (wait + GRACE_US))
  scale = math.max(scale, math.min(scale * EARLY[band] / seen, (MOST_STEP - 1) / (STEP[band] - 1)))
  local step, fine, even = scaled(STEP[band], scale), scaled(FINE_STEP[band], scale), scaled(EVEN_STEP[band], scale)
  s[at] = within(factor < s[at] and s[at] / step or s[at] * fine)
  s[at + 1] = within(factor < s[at + 1] and s[at + 1] / even or s[at + 1] * even)
  s[at + 2] = within(factor > s[at + 2] and s[at + 2] * step or s[at + 2] / fine)
  observed = true
end
