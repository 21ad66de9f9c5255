--[[
  The state of the type as a whole: its clock, capacity, running count and virtual time. Read once, changed in memory,
  written once. `busy` is since when something has been ready without a pause: it tells scarce workers from a job that
  was admitted this instant. `capped`: a worker was turned away because the type was at its concurrency.
]]
--- @include "lib/clock"

local TYPE_STATE = { 'last', 'offset', 'tat', 'running', 'v', 'maxfin', 'busy', 'capped' }
local ty, ty_was = {}, {}
local now, raw_now

local function load_type(explicit)
  local f = call('HMGET', key_type, 'last', 'offset', 'tat', 'running', 'v', 'maxfin', 'busy', 'capped', 'T', 'burst',
    'conc', 'slack', 'held', 'paused')
  for i, name in ipairs(TYPE_STATE) do
    local value = tonumber(f[i]) or 0
    ty[name], ty_was[name] = value, value
  end
  ty.T = tonumber(f[9]) or 0
  ty.burst = tonumber(f[10]) or 1
  ty.conc = tonumber(f[11]) or 1e15
  ty.slack = tonumber(f[12]) or 25000
  ty.held = tonumber(f[13]) or 0
  ty.paused = f[14] == '1'
  now, ty.offset, raw_now = read_clock(explicit, ty.last, ty.offset)
  ty.last = now
end

local function save_type()
  local out = {}
  for _, name in ipairs(TYPE_STATE) do
    if ty[name] ~= ty_was[name] then
      out[#out + 1] = name
      out[#out + 1] = num(ty[name])
    end
  end
  if #out > 0 then call('HSET', key_type, unpack(out)) end
end

-- Start-time fair queuing (Goyal, Vin, Cheng 1996): nothing ready, nothing running, so nobody is ahead or behind.
local function end_busy_period()
  if ty.running == 0 and ty.maxfin > ty.v and call('EXISTS', key_ready) == 0 then ty.v = ty.maxfin end
end
