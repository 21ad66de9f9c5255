--[[
  The keys of what is known of API keys, all in one slot: a hash for each by the hash of the key, a hash of each tenant's
  (id to hash), and the names of all tenants that have any.
]]
local call, key_tenants, root

local function begin_api_keys(keys)
  call, key_tenants = redis.call, keys[1]
  root = string.sub(key_tenants, 1, -9)
end

local function key_of_hash(hash)
  return root .. ':key:' .. hash
end

local function keys_of_tenant(tenant)
  return root .. ':of:' .. tenant
end

local function unix_now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
