--[[
  override: change what overrides the configuration file for one tenant, tier or type, in one step, and tell every process.
  Fields are changed one by one: two administrators who change different ones do not undo each other.

  KEYS the count of changes, a set with every subject that has overrides, the subject's hash
  FLAGS allow-oom
  ARGV
    subject      as it stands in the set
    channel      where the change is told, as "<count> <subject>"
    replace      "1": fields that are not named are cleared, but `paused`; "0": they stay
    fields...    name and value of each in turn; "" clears it
  Returns { count of changes, 1 when this was one else 0, { name, value … } of what holds now }.
]]
--- @include "lib/override_keys"

-- Stays through a replacement of everything that a caller can state.
local KEPT = 'paused'

local function unnamed(named)
  local fields = {}
  for _, field in ipairs(call('HKEYS', key_subject)) do
    if field ~= KEPT and named[field] == nil then fields[#fields + 1] = field end
  end
  return fields
end

return function(ARGV)
  local subject, channel, replace = ARGV[1], ARGV[2], ARGV[3] == '1'
  local named, changed = {}, false
  for i = 4, #ARGV, 2 do named[ARGV[i]] = ARGV[i + 1] end
  if #ARGV % 2 == 0 then return redis.error_reply('ERR override: a field has no value') end

  for _, field in ipairs(replace and unnamed(named) or {}) do
    changed = call('HDEL', key_subject, field) == 1 or changed
  end
  for i = 4, #ARGV, 2 do
    local field, value = ARGV[i], ARGV[i + 1]
    if value == '' then
      changed = call('HDEL', key_subject, field) == 1 or changed
    elseif call('HGET', key_subject, field) ~= value then
      call('HSET', key_subject, field, value)
      changed = true
    end
  end
  local revision = tonumber(call('GET', key_revision) or '0')
  if changed then
    revision = call('INCR', key_revision)
    call(call('EXISTS', key_subject) == 1 and 'SADD' or 'SREM', key_subjects, subject)
    call('SPUBLISH', channel, string.format('%d %s', revision, subject))
  end
  return { revision, changed and 1 or 0, call('HGETALL', key_subject) }
end
