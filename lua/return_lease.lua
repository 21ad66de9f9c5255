--[[
  return_lease: give back units that a process took in advance and did not use.

  KEYS  the bucket
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    process      8 bytes that no other process has
    stays        1 when it holds others still, 0 when it no longer shares the bucket
    emission     µs per unit
    burst        units that the bucket holds
    lease        µs after which the process no longer uses what it took
    returns...   units, the tat that came with them, and so on, the latest first
  Returns the units that are left for all.
  Keys touched: the bucket. Fails before anything is written when an argument is out of range.
]]
--- @include "lib/leased_bucket"

return function(ARGV)
  local now, id, stays = limit_clock(ARGV[1]), ARGV[2], ARGV[3]
  local emission, burst, lease = positive(ARGV[4]), positive(ARGV[5]), positive(ARGV[6])
  local returns = read_returns(ARGV, 7, #ARGV)
  if not (now and id and #id == 8 and (stays == '0' or stays == '1') and emission and burst and lease and returns) then
    return redis.error_reply('ERR return_lease: an argument is out of range')
  end
  local bucket = load_leased(limit_keys[1], id, emission, burst, now, lease)
  take_back(bucket, returns, now)
  if stays == '0' then bucket.own.held_until = 0 end
  save_leased(bucket, now)
  return double(free_units(bucket, now))
end
