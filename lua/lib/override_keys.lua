--[[
  The keys of what administrators changed at run time, all in one slot.
]]
local call, key_revision, key_subjects, key_subject

local function begin_overrides(keys)
  call = redis.call
  key_revision, key_subjects, key_subject = keys[1], keys[2], keys[3]
end
