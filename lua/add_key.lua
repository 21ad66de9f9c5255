--[[
  add_key: one more API key of a tenant, by its hash, and tell every process.

  KEYS the set of tenants that have keys
  ARGV
    tenant       percent-encoded
    id           of the key
    hash         SHA-256 of the key, in hex
    prefix       of the key, to know it by
    most         how many a tenant may have
    channel      where it is told, as "<hash>"
  Returns { 'added', ms since 1970 } or { 'full' }.
]]
--- @include "lib/api_keys"

return function(ARGV)
  local tenant, hash = ARGV[1], ARGV[3]
  if call('HLEN', keys_of_tenant(tenant)) >= tonumber(ARGV[5]) then return { 'full' } end
  local now = unix_now_ms()
  call('HSET', keys_of_tenant(tenant), ARGV[2], hash)
  call('HSET', key_of_hash(hash), 'tenant', tenant, 'prefix', ARGV[4], 'created', string.format('%d', now))
  call('ZADD', key_tenants, 0, tenant)
  call('SPUBLISH', ARGV[6], hash)
  return { 'added', now }
end
