--[[
  adopt: what runs without a permit, because the type had no limit when it began, holds a slot as if it had one, whose id is its
  token. From then on permits are given. To be told once every shard needs permits.

  FLAGS allow-oom
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    epoch        as the reply said that asked for it; nothing is done for an older one
    runs...      two values each: shard, token
  Returns 'ok'.
]]
--- @include "lib/permits"

return function(ARGV)
  load_total(ARGV[1])
  if tonumber(ARGV[2]) ~= total.epoch or total.counted == 1 then return 'ok' end
  for i = 3, #ARGV, 2 do keep_permit(ARGV[i + 1], ARGV[i], 0, 1, 0) end
  total.counted = 1
  wake()
  save_total()
  return 'ok'
end
