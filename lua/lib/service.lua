--[[
  What was measured of the service that a type's jobs get, for promises where workers, slots or the type's rate are scarce.
  It stands packed behind the type's state and is unpacked only when something is scarce.

  Pace. While something has been ready for longer than SCARCE_AFTER, every start adds to three sums, in which the newest
  starts count most (each start leaves KEEP of what there was):
    span     time since the start before it
    work     what virtual time went on, times the weights of all that was ready: cost, as the ready buckets share it
    starts   1
  so virtual time goes on by (work / span) / weights, whoever is ready now. A job of a bucket starts when virtual time comes
  to its tag.

  Calibration. How far estimates miss is observed: for each band of them three factors, the 5 %, 50 % and 95 % points of
  (real wait / estimated wait), found by stochastic approximation (H. Robbins, S. Monro, A Stochastic Approximation Method,
  1951): each start moves a factor up or down, by steps that balance where that share of starts lies below it. The longer
  the waits of a band, the smaller its steps: jobs that wait at the same time err alike. Only multiplications, so that it
  is the same everywhere to the last bit. Twin: src/model/service.ts, which says more of the numbers.
]]
--- @include "lib/type"

local SCARCE_AFTER_US = 50000
local KEEP = 255 / 256
-- Starts before a pace counts as measured.
local LEAST_STARTS = 8
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

local PACE, FACTORS, PACE_BYTES, FACTOR_BYTES = '<dddd', '<ddd', 32, 24
-- Of the call under way: the pace, and the factors of those bands that were looked at; whether anything of it is new.
local pace, bands, is_new

local function begin_service()
  pace, bands, is_new = nil, nil, false
end

-- Before anything was measured.
local function unmeasured()
  local text = struct.pack(PACE, 0, 0, 0, 0)
  for _, wide in ipairs(WIDE) do text = text .. struct.pack(FACTORS, 1 / wide, 1, wide) end
  return text
end

local function load_pace()
  if pace then return pace end
  if ty.measured == '' then ty.measured = unmeasured() end
  local started, span, work, starts = struct.unpack(PACE, ty.measured)
  pace, bands = { started = started, span = span, work = work, starts = starts }, {}
  return pace
end

local function load_factors(band)
  load_pace()
  local f = bands[band]
  if not f then
    local low, middle, high = struct.unpack(FACTORS, ty.measured, PACE_BYTES + FACTOR_BYTES * (band - 1) + 1)
    f = { low = low, middle = middle, high = high }
    bands[band] = f
  end
  return f
end

-- What was measured in this call is stored with the type.
local function keep_service()
  if not is_new then return end
  local was, text = ty.measured, struct.pack(PACE, pace.started, pace.span, pace.work, pace.starts)
  local kept = PACE_BYTES
  for band = 1, #WIDE do
    local f = bands[band]
    if f then
      local at = PACE_BYTES + FACTOR_BYTES * (band - 1)
      text = text .. string.sub(was, kept + 1, at) .. struct.pack(FACTORS, f.low, f.middle, f.high)
      kept = at + FACTOR_BYTES
    end
  end
  ty.measured = text .. string.sub(was, kept + 1)
end

-- A job starts, and virtual time goes on by `advance`.
local function measure_start(advance)
  local scarce_since = ty.busy + SCARCE_AFTER_US
  if ty.busy == 0 or now <= scarce_since then return end
  local s = load_pace()
  is_new = true
  s.span = s.span * KEEP + now - math.max(s.started, scarce_since)
  s.work = s.work * KEEP + advance * ty.weights
  s.starts = s.starts * KEEP + 1
  s.started = now
end

-- A run of a job ended that took `us`.
local function measure_run(us)
  ty.ran_us = ty.ran_us * KEEP + us
  ty.ran = ty.ran * KEEP + 1
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
  local f, each = load_factors(band), wait + GRACE_US
  return math.max(0, each * f.low - GRACE_US), math.max(0, each * f.middle - GRACE_US), math.max(0, each * f.high - GRACE_US)
end

local function within(factor)
  return math.min(MOST, math.max(LEAST, factor))
end

-- A job of which `wait` was estimated starts after `real` µs.
local function observe(wait, band, real)
  local f, factor = load_factors(band), (real + GRACE_US) / (wait + GRACE_US)
  local step, fine, even = STEP[band], FINE_STEP[band], EVEN_STEP[band]
  is_new = true
  f.low = within(factor < f.low and f.low / step or f.low * fine)
  f.middle = within(factor < f.middle and f.middle / even or f.middle * even)
  f.high = within(factor > f.high and f.high * step or f.high / fine)
end
