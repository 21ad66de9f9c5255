--[[
  lease: take units of a bucket in advance, for a process that then decides by itself about the calls which they are for.
  Among processes that were asked for units lately, what is free is shared by how much they were asked for; one whose share
  is less than it can use gets that much all the same, once its share has made up for what it took last.

  KEYS  the bucket
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    process      8 bytes that no other process has
    weight       units per second that the process is asked for
    want         units that it would take; 0 asks without taking anything: then nothing is stored
    least        units without which a grant is of no use
    emission     µs per unit
    burst        units that the bucket holds
    lease        µs after which the process no longer uses what it takes
    returns...   what it took before and gives back: units, the tat that came with them, and so on, the latest first
  Returns
    granted, units, tat, left   the units taken (0 when none were wanted), a number that proves what they are worth when they
                                come back, and the units that are left for all
    empty, wait, left           µs until `least` can be had if nobody else takes anything
  Keys touched: the bucket, which expires when nothing of it matters any more.
  Fails before anything is written when an argument is out of range.
]]
--- @include "lib/leased_bucket"

-- Units for the process now, and else the µs until it can have any.
local function share_of(bucket, weight, want, least, now)
  local emission, own = bucket.emission, bucket.own
  local tolerance = math.min(TOLERANCE * math.min(1, least), TOLERANCE_US / emission)
  local free, share = free_units(bucket, now), weight / (weight + bucket.others_weight)
  if free * share + tolerance >= least then return math.min(want, math.max(free * share, least)), 0 end
  if free + tolerance >= least and now >= own.due then return math.min(want, least), 0 end
  local turn = own.due - now
  if least <= bucket.burst * share then turn = math.min(turn, (least / share - free) * emission) end
  return 0, math.max(1, (least - free) * emission, turn)
end

local function take(bucket, units, weight, lease, now)
  local own = bucket.own
  if units > 0 then
    bucket.tat = math.max(bucket.tat, now) + units * bucket.emission
    local share = weight / (weight + bucket.others_weight)
    own.due = now + math.min(units / share, bucket.burst) * bucket.emission
  end
  own.weight, own.held_until = weight, now + lease
end

return function(ARGV)
  local now, id, weight, least = limit_clock(ARGV[1]), ARGV[2], positive(ARGV[3]), positive(ARGV[5])
  local want = ARGV[4] == '0' and 0 or positive(ARGV[4])
  local emission, burst, lease = positive(ARGV[6]), positive(ARGV[7]), positive(ARGV[8])
  local returns = read_returns(ARGV, 9)
  if not (now and id and #id == 8 and weight and want and least and emission and burst and lease and returns) then
    return redis.error_reply('ERR lease: an argument is out of range')
  end
  local bucket = load_leased(limit_keys[1], id, emission, burst, now, lease)
  take_back(bucket, returns, now)
  local asked = want == 0 and least or want
  local units, wait = share_of(bucket, weight, asked, least, now)
  if want == 0 then
    if wait == 0 then return { 'granted', '0', '0', double(free_units(bucket, now)) } end
  else
    take(bucket, units, weight, lease, now)
    save_leased(bucket, now)
  end
  local left = double(free_units(bucket, now))
  if wait > 0 then return { 'empty', whole_wait(wait), left } end
  return { 'granted', double(units), double(bucket.tat), left }
end
