--[[
  A type that is spread over several shards is served as one queue. Each shard has a virtual time of its own, and all of
  them go by one scale: who dispatches says up to where virtual time has come in any of them, which is `floor`, a start
  tag that was served; "" where there is but one shard.

    nothing is ready here        virtual time is the floor: who comes next was idle meanwhile, and earns no credit
    became ready since then      the same, once for each time without a pause: nobody here knew of the others
    is ready as it was           virtual time goes on to the floor, but not beyond the first start tag

  Where the type has a capacity, nothing starts without a permit, which the first shard gives (lib/permits). A dispatch brings it
  as "<id> <units> <until>": the greatest cost that may start, and the instant by this shard's clock after which nothing may.

  In the type's hash stands for which time without a pause (`busy`) that was done, and from which virtual time on shares are
  counted in it. Start tags that were given before count as the least that anybody gets now.
]]
--- @include "lib/share"
--- @include "lib/running_job"

local function join_others()
  call('HSET', key_type, 'joined', num(ty.busy) .. ' ' .. num(ty.shared_from))
end

function permit.bring(brought)
  permit.is_needed, permit.id, permit.units = ty.spread and call('HEXISTS', key_type, 'permits') == 1, '', 0
  if not brought or brought == '' then return end
  local id, units, valid_until = string.match(brought, '^(%S+) (%S+) (%S+)$')
  if id and now <= tonumber(valid_until) then permit.id, permit.units = id, tonumber(units) end
end

-- What the first job of a bucket, under a start tag, lacks to start, as a reply: { 'permit', turn, its cost, µs since 2025-01-01 by this
-- shard's clock }, all of it text, or nil.
function permit.lacking(b, start_tag)
  if not permit.is_needed then return nil end
  local id = call('ZRANGE', b.prioritized, '0', '0')[1]
  local cost = id and tonumber(call('HGET', b.prefix .. id, 'hg:c') or nil) or 1
  if permit.id ~= '' and cost <= permit.units then return nil end
  return { 'permit', num(ty.v) .. ' ' .. num(start_tag) .. ' 0', num(cost), num(now) }
end

local function keep_up(floor)
  if floor == '' then return end
  ty.spread = true
  local _, head = ready.first()
  local busy, from = string.match(call('HGET', key_type, 'joined') or '', '^(%S+) (%S+)$')
  floor = tonumber(floor)
  if head and busy == num(ty.busy) then
    ty.shared_from = tonumber(from)
    ty.v = math.max(ty.v, math.min(floor, head))
  else
    ty.v = math.max(ty.v, floor)
    ty.shared_from = ty.v
    if ty.busy > 0 then join_others() end
  end
end

-- Start-time fair queuing (Goyal, Vin, Cheng 1996): nothing ready, nothing running, so nobody is ahead or behind. Where
-- there are other shards, one alone cannot say that.
local function end_busy_period(floor)
  if floor ~= '' then return end
  if ty.running == 0 and ty.maxfin > ty.v and ty.busy == 0 then ty.v = ty.maxfin end
end
