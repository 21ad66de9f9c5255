--[[
  tally: adds to the counts of this moment. Beyond `most` fields, new ones are not counted.

  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    keep         ms until they expire
    most         fields of a moment
    counts...    pairs of a field and what is added to it
  Returns how many were not counted.
  Keys touched: …:door:<slot>
]]
--- @include "lib/tallies"

return function(ARGV)
  load_type(ARGV[1])
  local key, keep, most = tallies_key(slot_now()), tonumber(ARGV[2]), tonumber(ARGV[3])
  local left_out = 0
  for i = 4, #ARGV - 1, 2 do
    local amount = tonumber(ARGV[i + 1])
    if amount and amount >= 0 and amount < math.huge and (call('HEXISTS', key, ARGV[i]) == 1 or call('HLEN', key) < most) then
      call('HINCRBYFLOAT', key, ARGV[i], ARGV[i + 1])
    else
      left_out = left_out + 1
    end
  end
  call('PEXPIRE', key, keep)
  return left_out
end
