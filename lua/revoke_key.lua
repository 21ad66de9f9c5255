--[[
  revoke_key: an API key is one no longer, and every process is told. Nothing is left of it.

  KEYS the set of tenants that have keys
  FLAGS allow-oom
  ARGV
    tenant       percent-encoded
    id           of the key
    channel      where it is told, as "<hash>"
  Returns the hash of the key, or "" when the tenant has none of this id.
]]
--- @include "lib/api_keys"

return function(ARGV)
  local tenant = ARGV[1]
  local hash = call('HGET', keys_of_tenant(tenant), ARGV[2])
  if not hash then return '' end
  call('HDEL', keys_of_tenant(tenant), ARGV[2])
  call('DEL', key_of_hash(hash))
  if call('EXISTS', keys_of_tenant(tenant)) == 0 then call('ZREM', key_tenants, tenant) end
  call('SPUBLISH', ARGV[3], hash)
  return hash
end
