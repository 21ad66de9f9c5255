--[[
  page: ids of one bucket's jobs in one state, oldest first, a page at a time. Writes nothing.

  FLAGS no-writes, allow-oom
  ARGV
    tenant       percent-encoded
    state        waiting | delayed | active | completed | failed | expired | cancelled
    after_score  of the last job of the page before; "" on the first page
    after_id     likewise
    limit        jobs per page
    scan         how many entries are looked at, at most
  Returns { 1 when there is more, score and id to go on from, { id … } }.
]]
--- @include "lib/shard"

local SETS = { waiting = 'prioritized', delayed = 'delayed', completed = 'completed', failed = 'failed',
  expired = 'failed', cancelled = 'failed' }

-- What runs is few and in no order: by id, which is by age.
local function running_after(prefix, after_id)
  local ids, out = call('LRANGE', prefix .. 'active', 0, -1), {}
  table.sort(ids)
  for _, id in ipairs(ids) do
    if id > after_id then out[#out + 1], out[#out + 2] = id, '0' end
  end
  return out
end

-- expired and cancelled jobs live in the failed set.
local function belongs(prefix, state, id)
  if SETS[state] ~= 'failed' then return true end
  return (call('HGET', prefix .. id, 'hg:e') or 'failed') == state
end

return function(ARGV)
  local prefix, state = tag .. ':q:' .. ARGV[1] .. ':', ARGV[2]
  local last_score, last_id, limit, scan = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
  local list
  if state == 'active' then
    list = running_after(prefix, last_id)
  else
    local from = last_score == '' and '-inf' or last_score
    list = call('ZRANGEBYSCORE', prefix .. SETS[state], from, '+inf', 'WITHSCORES', 'LIMIT', 0, scan)
  end

  local ids, after_score, after_id = {}, tonumber(last_score), last_id
  for i = 1, #list, 2 do
    local id, score = list[i], list[i + 1]
    if state == 'active' or not after_score or tonumber(score) > after_score or id > after_id then
      if #ids == limit then return { 1, last_score, last_id, ids } end
      if belongs(prefix, state, id) then ids[#ids + 1] = id end
      last_score, last_id = score, id
    end
  end
  return { (state ~= 'active' and #list == 2 * scan) and 1 or 0, last_score, last_id, ids }
end
