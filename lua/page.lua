--[[
  page: ids of one bucket's jobs in one state, oldest first, a page at a time. Writes nothing.

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

local prefix = tag .. ':q:' .. ARGV[1] .. ':'
local state, after_score, after_id = ARGV[2], ARGV[3], ARGV[4]
local limit, scan = tonumber(ARGV[5]), tonumber(ARGV[6])
local SETS = { waiting = 'prioritized', delayed = 'delayed', completed = 'completed', failed = 'failed',
  expired = 'failed', cancelled = 'failed' }

-- Pairs (id, score) that come after the cursor, at most `scan`.
local function candidates()
  if state == 'active' then
    local ids = call('LRANGE', prefix .. 'active', 0, -1)
    table.sort(ids)
    local out = {}
    for _, id in ipairs(ids) do
      if id > after_id then out[#out + 1], out[#out + 2] = id, '0' end
    end
    return out
  end
  local from = after_score == '' and '-inf' or after_score
  return call('ZRANGEBYSCORE', prefix .. SETS[state], from, '+inf', 'WITHSCORES', 'LIMIT', 0, scan)
end

local function belongs(id)
  if SETS[state] ~= 'failed' then return true end
  return (call('HGET', prefix .. id, 'hg:e') or 'failed') == state
end

local list = candidates()
local ids, last_score, last_id = {}, after_score, after_id
for i = 1, #list, 2 do
  local id, score = list[i], list[i + 1]
  if state == 'active' or after_score == '' or tonumber(score) > tonumber(after_score) or id > after_id then
    if #ids == limit then return { 1, last_score, last_id, ids } end
    if belongs(id) then ids[#ids + 1] = id end
    last_score, last_id = score, id
  end
end
return { (state ~= 'active' and #list == 2 * scan) and 1 or 0, last_score, last_id, ids }
