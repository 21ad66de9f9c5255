--[[
  What a type of several shards may start in all is kept in its first shard and nowhere else: its bucket and its slots. Nothing
  starts in any shard without a permit from there, which holds a slot and has paid for the job's cost. It is given up when the run
  has ended, or when it can be used no more: it may start a job only until an instant by the clock of the job's shard.

  …:total holds doubles, little-endian:
    last, offset     see lib/clock
    tat              when the type's bucket is empty
    T, burst, conc, slack, paused: the capacity
    full             1: somebody was turned away for want of a slot
    late             1: somebody was turned away until an instant by the rate
    limited          1: there is a limit
    counted          0: what began while there was none is not known yet, and no permit is given
    epoch            how often the type has become limited
  …:permits holds by the id of a permit: shard, instant, cost, and where its charge left tat.
]]
--- @include "lib/running_charge"
--- @include "lib/wake"

local TOTAL = '<ddddddddddddd'
local key_total, key_permits
local total, has_earlier

local function begin_total()
  key_total, key_permits, has_earlier = tag .. ':total', tag .. ':permits', false
end

local function load_total(explicit)
  local last, offset, tat, T, burst, conc, slack, paused, full, late, limited, counted, epoch =
    0, 0, 0, 0, 1, 1e15, 25000, 0, 0, 0, 0, 1, 0
  local stored = call('GET', key_total)
  if stored then
    last, offset, tat, T, burst, conc, slack, paused, full, late, limited, counted, epoch = struct.unpack(TOTAL, stored)
  end
  now, offset, raw_now = read_clock(explicit, last, offset)
  total = {
    offset = offset, tat = tat, T = T, burst = burst, conc = conc, slack = slack, paused = paused == 1, full = full,
    late = late, limited = limited, counted = counted, epoch = epoch,
  }
end

local function has_slot()
  return call('HLEN', key_permits) < total.conc
end

local function total_gate_at()
  return total.tat - (total.burst - 1) * total.T
end

-- Whoever was turned away hears of it when there is more than they were told; what is taken again at once is none.
local function save_total()
  if total.full == 1 and has_slot() then
    total.full = 0
    wake()
  end
  if total.late == 1 and has_earlier then
    total.late = 0
    wake()
  end
  call('SET', key_total, struct.pack(TOTAL, now, total.offset, total.tat, total.T, total.burst, total.conc, total.slack,
    total.paused and 1 or 0, total.full, total.late, total.limited, total.counted, total.epoch))
end

local function keep_permit(id, shard, valid_until, cost, mark)
  call('HSET', key_permits, id, table.concat({ shard, num(valid_until), num(cost), num(mark) }, ' '))
end

-- The job of a permit costs what is now known ("" : what it did), and its run has ended or has not. What is not there was ended before.
local function change_permit(id, cost, ends)
  local stored = call('HGET', key_permits, id)
  if not stored then return end
  local shard, valid_until, was, mark = string.match(stored, '^(%S+) (%S+) (%S+) (%S+)$')
  local more = cost == '' and 0 or tonumber(cost) - was
  if more ~= 0 then
    local before = total.tat
    total.tat, mark = corrected(more * total.T, tonumber(mark), before, now)
    has_earlier = has_earlier or total.tat < before
  end
  if ends then
    call('HDEL', key_permits, id)
  elseif more ~= 0 then
    keep_permit(id, shard, tonumber(valid_until), tonumber(cost), mark)
  end
end
