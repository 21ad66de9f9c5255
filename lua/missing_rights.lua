--[[
  missing_rights: which commands the caller's user may not run. Runs none of them.

  FLAGS no-writes, allow-oom
  ARGV
    commands...  each with arguments, as it would be sent, separated by blanks
  Returns the places of those in ARGV, from 1.
]]
return function(ARGV)
  local missing = {}
  for i = 1, #ARGV do
    local words = {}
    for word in string.gmatch(ARGV[i], '%S+') do words[#words + 1] = word end
    if not redis.acl_check_cmd(unpack(words)) then missing[#missing + 1] = i end
  end
  return missing
end
