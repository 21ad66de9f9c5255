--[[
  use_key: note that an API key was used, unless that was noted within the last minute. A key that was revoked stays away.

  KEYS the set of tenants that have keys
  FLAGS allow-oom
  ARGV
    hash         of the key
  Returns 1 when it was noted, else 0.
]]
--- @include "lib/api_keys"

local EVERY_MS = 60000

return function(ARGV)
  local key, now = key_of_hash(ARGV[1]), unix_now_ms()
  local f = call('HMGET', key, 'tenant', 'used')
  if not f[1] or f[2] and now - tonumber(f[2]) < EVERY_MS then return 0 end
  call('HSET', key, 'used', string.format('%d', now))
  return 1
end
