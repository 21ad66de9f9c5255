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

local SERVICE, NUMBERS = '<dddd' .. 'dddddddddddddddddd', 22
-- Where they stand: the last start and the three sums, then the factors of each band.
local STARTED, SPAN, WORK, STARTS = 1, 2, 3, 4
local service, observed

local function begin_service()
  service, observed = nil, false
end

local function factors_at(band)
  return STARTS + 3 * band - 2
end

local function load_service()
  if service then return service end
  if ty.measured == '' then
    service = { 0, 0, 0, 0 }
    for band, wide in ipairs(WIDE) do
      local at = factors_at(band)
      service[at], service[at + 1], service[at + 2] = 1 / wide, 1, wide
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
  s[SPAN] = s[SPAN] * KEEP + now - math.max(s[STARTED], scarce_since)
  s[WORK] = s[WORK] * KEEP + advance * ty.weights
  s[STARTS] = s[STARTS] * KEEP + 1
  s[STARTED] = now
  observed = true
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
  local s, at = load_service(), factors_at(band)
  local each = wait + GRACE_US
  return math.max(0, each * s[at] - GRACE_US), math.max(0, each * s[at + 1] - GRACE_US), math.max(0, each * s[at + 2] - GRACE_US)
end

local function within(factor)
  return math.min(MOST, math.max(LEAST, factor))
end

-- A job of which `wait` was estimated starts after `real` µs.
local function observe(wait, band, real)
  local s, at = load_service(), factors_at(band)
  local factor = (real + GRACE_US) / (wait + GRACE_US)
  local step, fine, even = STEP[band], FINE_STEP[band], EVEN_STEP[band]
  s[at] = within(factor < s[at] and s[at] / step or s[at] * fine)
  s[at + 1] = within(factor < s[at + 1] and s[at + 1] / even or s[at + 1] * even)
  s[at + 2] = within(factor > s[at + 2] and s[at + 2] * step or s[at + 2] / fine)
  observed = true
end
