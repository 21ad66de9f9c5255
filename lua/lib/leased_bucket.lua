--[[
  A bucket whose units processes take in advance, and who shares it: one string of packed numbers, little-endian.
    tat, emission            the instant at which the bucket is empty, and the µs per unit that it was computed with
    per process: id          8 bytes
                 held_until  the instant from which it no longer uses what it took
                 weight      what it was asked for when it last came, in units per second
                 due         the instant at which its share has made up for what it took last
]]
--- @include "lib/limit_call"

local LEASED, SHARER = '<dd', '<c8ddd'
local LEASED_BYTES, SHARER_BYTES = 16, 32
-- By how much a call may miss, as in src/model/gcra: a thousandth of a unit, at most 100 µs.
local TOLERANCE, TOLERANCE_US = 1e-3, 100

local function double(x)
  return string.format('%.17g', x)
end

local function read_sharers(bucket, stored, now, lease)
  for at = LEASED_BYTES + 1, #stored, SHARER_BYTES do
    local id, held_until, weight, due = struct.unpack(SHARER, stored, at)
    -- A clock that stepped back must not keep anybody for longer than it could be.
    held_until, due = math.min(held_until, now + lease), math.min(due, now + bucket.burst * bucket.emission)
    local sharer = { id = id, held_until = held_until, weight = weight, due = due }
    if id == bucket.own.id then
      bucket.own = sharer
    elseif held_until > now or due > now then
      bucket.others[#bucket.others + 1] = sharer
      if held_until > now then bucket.others_weight = bucket.others_weight + weight end
    end
  end
end

-- The bucket as the process `id` finds it. Another rate keeps the level, and so does a clock that stepped back.
local function load_leased(key, id, emission, burst, now, lease)
  local own = { id = id, held_until = 0, weight = 0, due = 0 }
  local bucket = { key = key, tat = 0, emission = emission, burst = burst, own = own, others = {}, others_weight = 0 }
  local stored = call('GET', key)
  if not stored then return bucket end
  local tat, given = struct.unpack(LEASED, stored)
  if tat > now then
    bucket.tat = now + (tat - now) * emission / given
    local full = now + burst * emission
    if bucket.tat > full + burst * emission * 0.01 then bucket.tat = full end
  end
  read_sharers(bucket, stored, now, lease)
  return bucket
end

-- A bucket that is empty and that nobody shares is as good as none.
local function save_leased(bucket, now)
  local packed, last = { struct.pack(LEASED, bucket.tat, bucket.emission) }, bucket.tat
  bucket.others[#bucket.others + 1] = bucket.own
  for i = 1, #bucket.others do
    local sharer = bucket.others[i]
    local kept_until = math.max(sharer.held_until, sharer.due)
    last = math.max(last, kept_until)
    if kept_until > now then
      packed[#packed + 1] = struct.pack(SHARER, sharer.id, sharer.held_until, sharer.weight, sharer.due)
    end
  end
  if last <= now then
    call('DEL', bucket.key)
  else
    call('SET', bucket.key, table.concat(packed), 'PX', lifetime(last - now))
  end
end

local function free_units(bucket, now)
  return bucket.burst - math.max(0, bucket.tat - now) / bucket.emission
end

-- Pairs of units and the tat that came with them, from argv[from] to argv[last]; nil when they are anything else.
local function read_returns(argv, from, last)
  local returns = {}
  for at = from, last, 2 do
    local units, tat = positive(argv[at]), positive(argv[at + 1])
    if not units or not tat then return nil end
    returns[#returns + 1] = { units = units, tat = tat }
  end
  return returns
end

-- What was taken comes back, as far as it has not leaked away since: nobody gets it a second time.
local function take_back(bucket, returns, now)
  for i = 1, #returns do
    local left = math.max(0, returns[i].tat - now)
    bucket.tat = bucket.tat - math.min(returns[i].units * bucket.emission, left)
  end
end
