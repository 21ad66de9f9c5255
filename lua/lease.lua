--[[
  lease: take units of buckets in advance, for a process that then decides by itself about the calls which they are for.
  Each bucket is asked for as if it had come alone. Among processes that were asked for units lately, what is free is shared by how much they were asked for; one whose share
  is less than it can use gets that much all the same, once its share has made up for what it took last.

  KEYS  the buckets
  ARGV
    now          µs since 2025-01-01; "" for the server's clock
    process      8 bytes that no other process has
    lease        µs after which the process no longer uses what it takes
    requests...  one for each bucket:
                   weight    units per second that the process is asked for
                   want      units that it would take; 0 asks without taking anything: then nothing is stored
                   least     units without which a grant is of no use
                   emission  µs per unit
                   burst     units that the bucket holds
                   given     how many returns follow; each is what it took before and gives back: units, and the tat that
                             came with them, the latest first
  Returns a list, of each bucket one of
    granted, units, tat, left   the units taken (0 when none were wanted), a number that proves what they are worth when they
                                come back, and the units that are left for all
    empty, wait, left           µs until `least` can be had if nobody else takes anything
    failed, error               what was asked of it is out of range, or its key holds something else: nothing of it was written
  Keys touched: the buckets, which expire when nothing of them matters any more.
  Fails before anything is written when the arguments are not those of so many buckets.
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

-- What is asked of each bucket; nil when the arguments are not those of so many.
local function read_requests(argv)
  local requests, at = {}, 4
  for i = 1, #limit_keys do
    local given = tonumber(argv[at + 5])
    if not given or given < 0 or given > #argv or given % 1 ~= 0 then return nil end
    requests[i], at = { at = at, returns = at + 6, last = at + 5 + 2 * given }, at + 6 + 2 * given
  end
  return at == #argv + 1 and requests or nil
end

local function lease_bucket(key, argv, request, now, id, lease)
  local at = request.at
  local weight, least = positive(argv[at]), positive(argv[at + 2])
  local want = argv[at + 1] == '0' and 0 or positive(argv[at + 1])
  local emission, burst = positive(argv[at + 3]), positive(argv[at + 4])
  local returns = read_returns(argv, request.returns, request.last)
  if not (weight and want and least and emission and burst and returns) then
    return { 'failed', 'ERR lease: an argument is out of range' }
  end
  local bucket = load_leased(key, id, emission, burst, now, lease)
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

return function(ARGV)
  local now, id, lease = limit_clock(ARGV[1]), ARGV[2], positive(ARGV[3])
  local requests = now and id and #id == 8 and lease and read_requests(ARGV)
  if not requests then return redis.error_reply('ERR lease: an argument is out of range') end
  local replies = {}
  for i = 1, #requests do
    local done, reply = pcall(lease_bucket, limit_keys[i], ARGV, requests[i], now, id, lease)
    replies[i] = done and reply or { 'failed', type(reply) == 'table' and reply.err or reply }
  end
  return replies
end
