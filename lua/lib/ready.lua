--[[
  …:ready during one call. A command costs Redis more than most of what these scripts reckon, so the first buckets are read
  together, and start tags are written together by save(), or before anybody looks there for what they may have changed.

  `heads` are the first of …:ready from place `first_at` on, a tenant and its start tag each; of a tag that comes among them and
  of what stands behind it nothing is known any more.
]]
--- @include "lib/type"

local ready = {}
local heads, first_at, most_heads, new_tags

local function begin_ready()
  heads, first_at, most_heads, new_tags = {}, 1, 1, {}
end

-- So many buckets may be taken from the front in this call.
function ready.want(count)
  most_heads = count
end

function ready.write()
  if not new_tags[1] then return end
  call('ZADD', key_ready, unpack(new_tags))
  new_tags = {}
end

local function forget_heads(place)
  for i = #heads, place, -1 do heads[i] = nil end
end

-- The place of a tenant among the heads; nil where it is not there.
local function place_of_head(tenant)
  for i = first_at, #heads, 2 do
    if heads[i] == tenant then return i end
  end
end

-- It is no longer where it was.
local function pass_head(tenant)
  local place = place_of_head(tenant)
  if place == first_at then first_at = first_at + 2 elseif place then forget_heads(place) end
end

-- The first tenant and its start tag, nil where nothing is ready; and all heads where they were read just now.
function ready.first()
  if heads[first_at] then return heads[first_at], heads[first_at + 1] end
  ready.write()
  heads, first_at = call('ZRANGE', key_ready, '0', num(most_heads - 1), 'WITHSCORES'), 1
  for i = 2, #heads, 2 do heads[i] = tonumber(heads[i]) end
  return heads[1], heads[2], heads
end

function ready.put(tenant, start_tag)
  pass_head(tenant)
  local last = #heads
  while last > first_at and heads[last] >= start_tag do last = last - 2 end
  forget_heads(last + 1)
  local n = #new_tags
  new_tags[n + 1], new_tags[n + 2] = num(start_tag), tenant
end

-- Whether it was there.
function ready.remove(tenant)
  pass_head(tenant)
  ready.write()
  return call('ZREM', key_ready, tenant) == 1
end

function ready.is_empty()
  return not heads[first_at] and not new_tags[1] and call('EXISTS', key_ready) == 0
end

-- The tenant's start tag; nil where it is not there.
function ready.tag_of(tenant)
  ready.write()
  return tonumber(call('ZSCORE', key_ready, tenant) or nil)
end
