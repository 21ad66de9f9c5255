--[[
  The state of the type as a whole: its clock, capacity, running count and virtual time. Read once, changed in memory,
  written once by save().

  The field `s` of its hash holds these as doubles, little-endian; text would cost a third of a script's time:
    last     virtual now when a script last ran       offset   what it is ahead of the server's clock
    tat      when the type's own bucket is empty      running  jobs under way over all tenants
    v        virtual time                             maxfin   the greatest finish tag
    busy     since when something has been ready without a pause; 0: nothing is. It tells scarce workers from a job that
             was admitted this instant
    capped   1: a worker was turned away because the type was at its concurrency
    expiry   no startBy comes before this instant
    held     nothing starts before this instant
    weights  of all that is ready, together
    ran_us, ran         how long runs took, and how many: the newest counts most (lib/service)
    served, served_at   cost of what started, fading (lib/share), and at which instant that was so
    T, burst, conc, slack, paused: the capacity
  Behind them stands what lib/service has measured, which is unpacked only where it is needed.
  The field `format` is the version of the stored form, `shards` over how many shards the type is spread, and `joined` belongs to
  lib/spread.
]]
--- @include "lib/clock"

local TYPE_STATE, TYPE_BYTES = '<' .. 'dddddddddd' .. 'ddddd' .. 'ddddd', 160
local ty
local now, raw_now, now_ms

local function load_type(explicit)
  local stored = call('HGET', key_type, 's')
  local last, offset, tat, running, v, maxfin, busy, capped, expiry, held = 0, 0, 0, 0, 0, 0, 0, 0, math.huge, 0
  local weights, ran_us, ran, served, served_at = 0, 0, 0, 0, 0
  local T, burst, conc, slack, paused = 0, 1, 1e15, 25000, 0
  if stored then
    last, offset, tat, running, v, maxfin, busy, capped, expiry, held, weights, ran_us, ran, served, served_at, T, burst,
      conc, slack, paused = struct.unpack(TYPE_STATE, stored)
  end
  now, offset, raw_now = read_clock(explicit, last, offset)
  now_ms = unix_ms(now)
  ty = {
    last = now, offset = offset, tat = tat, running = running, v = v, maxfin = maxfin, busy = busy, capped = capped,
    expiry = expiry, held = held, weights = weights, ran_us = ran_us, ran = ran, served = served, served_at = served_at,
    T = T, burst = burst, conc = conc, slack = slack, paused = paused == 1,
    -- For lib/spread: whether there are other shards, and from which virtual time on shares are counted.
    spread = false, shared_from = -math.huge,
    -- For lib/eta: how many jobs more may start by what other shards leave; 0 where workers are scarce in one.
    free_beside = math.huge,
    measured = stored and string.sub(stored, TYPE_BYTES + 1) or '',
  }
end

local function save_type()
  call('HSET', key_type, 's', struct.pack(TYPE_STATE, ty.last, ty.offset, ty.tat, ty.running, ty.v, ty.maxfin, ty.busy,
    ty.capped, ty.expiry, ty.held, ty.weights, ty.ran_us, ty.ran, ty.served, ty.served_at, ty.T, ty.burst, ty.conc,
    ty.slack, ty.paused and 1 or 0) .. ty.measured)
end
