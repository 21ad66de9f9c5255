--[[
  What a bucket was served, and what its share was. Both fade: what lies t back counts e^(-t / FADE), so that each sum
  divided by FADE is a rate over about the last minute. Four numbers of a bucket:
    served       cost that started
    deserved     weight times what virtual time went on while the bucket was ready: by start-time fair queuing that is its
                 weighted max-min share of what was served, however many others there were. While it is not ready it
                 asks for nothing, and deserves nothing
    share_at     the instant at which both were so
    share_v      virtual time up to which `deserved` is counted
  Nothing starts by these numbers: they are counted apart from the tags that decide, so that they tell when those are wrong.
]]
--- @include "lib/type"

local FADE_US = 60000000

local function fade_share(b)
  if b.share_at ~= now then
    local left = math.exp((b.share_at - now) / FADE_US)
    b.served, b.deserved, b.share_at = b.served * left, b.deserved * left, now
  end
end

-- What a ready bucket deserves since its share was last counted.
local function count_share(b)
  fade_share(b)
  b.deserved = b.deserved + b.weight * math.max(0, ty.v - math.max(b.share_v, ty.shared_from))
  b.share_v = ty.v
end

-- The bucket becomes ready, or goes on with another weight.
local function compete(b)
  ty.weights = ty.weights + b.weight
  b.share_v = ty.v
end

local function stop_competing(b)
  ty.weights = math.max(0, ty.weights - b.weight)
  count_share(b)
end

-- Nothing is ready any more.
local function end_readiness()
  ty.busy, ty.weights = 0, 0
end

local function fade_served()
  ty.served, ty.served_at = ty.served * math.exp((ty.served_at - now) / FADE_US), now
end

-- `cost` of the bucket's starts, or of what was thought that it had started costs that much more.
local function count_served(b, cost)
  fade_share(b)
  fade_served()
  b.served, ty.served = math.max(0, b.served + cost), math.max(0, ty.served + cost)
end

-- Units a second that the bucket was served, and those of its share, up to now.
local function share_rates(b, is_ready)
  if is_ready then count_share(b) else fade_share(b) end
  return b.served * 1e6 / FADE_US, b.deserved * 1e6 / FADE_US
end

local function served_per_second()
  fade_served()
  return ty.served * 1e6 / FADE_US
end
