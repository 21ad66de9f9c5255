--[[
  The state of one bucket beside BullMQ's lists. `tenant` is percent-encoded. Read once, changed in memory, written once by
  save(). It is one string of packed numbers, little-endian:
    T, jT, burst, slack, weight, conc, pace     the profile's pace as it was given (µs per unit, µs per job, units, µs …);
                                                the last is 1: a rate is 0, + 2: policed, that is charged at the door
    depth, maxb, maxw                           what it may hold: jobs, bytes, ms
    tat, jtat                                   instants at which the bucket is empty, by cost and by jobs (µs)
    finish                                      finish tag of the job last started
    T, jT                                       the intervals that tat and jtat were computed with
    bytes                                       payloads of what waits, delayed jobs' included
    delayed_at                                  when the first delayed job falls due; without end when there is none
    w                                           waiting cost by BullMQ's priority, 1 … 10, of what pays when it starts
    paid_cost                                   waiting cost that was paid for at the door
    held                                        nothing starts before this instant, because its upstream is busy
    served, deserved, share_at, share_v         what it was served and what its share was, see lib/share
    active, waiting                             what `place` last found in BullMQ's lists
    odd                                         waiting jobs that pay when they start and do not cost 1
    paid                                        waiting jobs that were paid for at the door (field hg:p of the job's hash)
    flags                                       where it stands (0 nowhere, 1 due, 2 ready) + 4: in …:results + 8: paused
                                                by hand
]]
--- @include "lib/share"
--- @include "lib/service"
--- @include "lib/ready"

-- The profile stands first, as its caller gave it.
local PROFILE, PROFILE_BYTES = '<dddddddddd', 80
local STATE = '<' .. 'ddddddd' .. 'dddddddddddd' .. 'dddd' .. 'I4I4I4I4B'
local BUCKET = PROFILE .. STATE
local NOWHERE, DUE, READY = 0, 1, 2
local UNLIMITED = 1e15
local loaded
-- What is stored, of buckets that were read together; false where nothing is.
local fetched
-- What stands for a bucket of which nothing is stored. Made in a call: Redis has no `struct` while it loads a library.
local new

local function begin_buckets()
  loaded, fetched = {}, {}
  new = new or struct.pack(PROFILE, 1e6, 0, 1, 250000, 1, 1e15, 0, 1000, 1e15, 1e15) ..
    struct.pack(STATE, 0, 0, 0, 1e6, 0, 0, math.huge, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
end

local function unpack_bucket(tenant, key, stored)
  local prefix = tag .. ':q:' .. tenant .. ':'
  local given_T, given_jT, burst, slack, weight, conc, pace, depth, max_bytes, max_wait, tat, jtat, finish, T, jT, bytes,
    delayed_at, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, paid_cost, held, served, deserved, share_at, share_v, active,
    waiting, odd, paid, flags = struct.unpack(BUCKET, stored)
  local stopped = flags >= 8
  return {
    tenant = tenant, key = key, prefix = prefix, prioritized = prefix .. 'prioritized',
    delayed = prefix .. 'delayed', active_key = prefix .. 'active', profile = string.sub(stored, 1, PROFILE_BYTES),
    given_T = given_T, given_jT = given_jT, burst = burst, slack = slack, weight = weight, conc = conc, pace = pace,
    depth = depth, max_bytes = max_bytes, max_wait = max_wait, tat = tat, jtat = jtat, finish = finish, T = T, jT = jT,
    bytes = bytes, delayed_at = delayed_at, w = { w1, w2, w3, w4, w5, w6, w7, w8, w9, w10 }, paid_cost = paid_cost,
    held = held, served = served, deserved = deserved, share_at = share_at, share_v = share_v, active = active,
    waiting = waiting, odd = odd, paid = paid, where = flags % 4, indexed = flags % 8 >= 4, stopped = stopped,
    paused = stopped or pace % 2 == 1, was_served = false, delayed_changed = false, forgotten = false,
  }
end

-- Reads buckets together, of which some will be loaded in this call: every `step`-th of a list from `first` on is a tenant.
local function fetch_buckets(list, first, step)
  local keys, tenants, before = {}, {}, tag .. ':bucket:'
  for i = first, #list, step do
    local n = #keys + 1
    keys[n], tenants[n] = before .. list[i], list[i]
  end
  local stored = call('MGET', unpack(keys))
  for i = 1, #tenants do fetched[tenants[i]] = stored[i] end
end

local function stored_bucket(tenant, key)
  local stored = fetched[tenant]
  if stored == nil then stored = call('GET', key) end
  return stored
end

local function load_bucket(tenant)
  local b = loaded[tenant]
  if b then return b end
  local key = tag .. ':bucket:' .. tenant
  b = unpack_bucket(tenant, key, stored_bucket(tenant, key) or new)
  loaded[tenant] = b
  return b
end

local function save_bucket(b)
  local w = b.w
  local flags = b.where + (b.indexed and 4 or 0) + (b.stopped and 8 or 0)
  call('SET', b.key, b.profile .. struct.pack(STATE, b.tat, b.jtat, b.finish, b.T, b.jT, b.bytes, b.delayed_at, w[1], w[2],
    w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], b.paid_cost, b.held, b.served, b.deserved, b.share_at, b.share_v,
    b.active, b.waiting, b.odd, b.paid, flags))
end

-- Whatever touched a quiet bucket has made its key; a sweep looks whether it may go again.
local function index_if_quiet(b)
  if b.indexed or b.stopped or b.waiting > 0 or b.active > 0 or b.delayed_at < math.huge then return end
  call('ZADD', key_results, 'NX', num(now + 60000000), b.tenant)
  b.indexed = true
end

-- Where some of them begin in the packed state, and what stands from `active` on.
local BURST_AT, CONC_AT, TAT_AT, T_AT, DELAYED_AT, HELD_AT, TAIL_AT, TAIL = 17, 41, 81, 105, 129, 225, 265, '<I4I4I4I4B'
local TAIL_FROM = '264'

-- Of a bucket that is due: if any of its waiting jobs was paid for, then not the first.
local function due_at(stored)
  local tat, jtat = struct.unpack('<dd', stored, TAT_AT)
  local by_cost = tat - (struct.unpack('<d', stored, BURST_AT) - 1) * struct.unpack('<d', stored, T_AT)
  return math.max(by_cost, jtat, struct.unpack('<d', stored, HELD_AT))
end

--[[
  The little that the end of a run needs of a bucket whose place it cannot change: one without a concurrency of its own, of
  which nothing has fallen due. nil for any other, and for one that is loaded.
]]
local function unmoved_bucket(tenant)
  local key = tag .. ':bucket:' .. tenant
  local stored = not loaded[tenant] and stored_bucket(tenant, key)
  if not stored or struct.unpack('<d', stored, CONC_AT) < UNLIMITED then return nil end
  local delayed_at = struct.unpack('<d', stored, DELAYED_AT)
  local active, waiting, odd, paid, flags = struct.unpack(TAIL, stored, TAIL_AT)
  if active == 0 or delayed_at <= now or flags % 4 == DUE and waiting > 0 and due_at(stored) <= now then return nil end
  local prefix = tag .. ':q:' .. tenant .. ':'
  return {
    tenant = tenant, key = key, prefix = prefix, active_key = prefix .. 'active', active = active, waiting = waiting, odd = odd, paid = paid, flags = flags,
    delayed_at = delayed_at, indexed = flags % 8 >= 4, stopped = flags >= 8,
  }
end

-- One job of such a bucket runs no longer. Nothing else of it changes.
local function release(b)
  b.active = b.active - 1
  ty.running = ty.running - 1
  index_if_quiet(b)
  local flags = b.flags % 4 + (b.indexed and 4 or 0) + (b.stopped and 8 or 0)
  fetched[b.tenant] = nil
  call('SETRANGE', b.key, TAIL_FROM, struct.pack(TAIL, b.active, b.waiting, b.odd, b.paid, flags))
end

-- Writes what the script changed. Every script that changes anything ends with it.
local function save()
  ready.write()
  for _, b in pairs(loaded) do
    if not b.forgotten then
      index_if_quiet(b)
      save_bucket(b)
    end
  end
  keep_service()
  save_type()
end

-- A re-rate keeps the level: tat moves so that (tat - now) / T stays.
local function rescale(tat, from, to)
  if from == to or from <= 0 or tat <= now then return tat end
  return now + (tat - now) * to / from
end

-- A rate of 0, given as an interval of -1, leaves the interval alone: an infinite instant could never be brought back.
local function interval(given, stored)
  return given >= 0 and given or math.max(stored, 0)
end

--[[
  The bucket's profile becomes the one given, packed as it is stored (src/shaping/profile-bytes); "" keeps what is stored.
  True when something changed.
]]
local function apply_profile(b, given)
  if given == '' or given == b.profile then return false end
  if b.where == READY then stop_competing(b) end
  b.profile = given
  b.given_T, b.given_jT, b.burst, b.slack, b.weight, b.conc, b.pace, b.depth, b.max_bytes, b.max_wait =
    struct.unpack(PROFILE, given)
  if b.where == READY then compete(b) end
  local T, jT = interval(b.given_T, b.T), interval(b.given_jT, b.jT)
  b.tat = rescale(b.tat, b.T, T)
  b.jtat = rescale(b.jtat, b.jT, jT)
  b.T, b.jT, b.paused = T, jT, b.stopped or b.pace % 2 == 1
  return true
end

-- The instant from which a backlogged bucket may start its next job by its rate, whatever that costs, and by what holds it.
local function startable_at(b)
  return math.max(b.tat - (b.burst - 1) * b.T, b.jtat, b.held)
end

-- The same of the first of `waiting` jobs: what was paid for at the door waits for no rate. Where nothing was, `waiting` is
-- not looked at.
local function next_startable_at(b, waiting)
  if b.paid == 0 then return startable_at(b) end
  if b.paid < waiting then
    local head = call('ZRANGE', b.prioritized, '0', '0')[1]
    if not head or call('HEXISTS', b.prefix .. head, 'hg:p') == 0 then return startable_at(b) end
  end
  return math.max(now, b.held)
end

-- A job joins (sign 1) or leaves (sign -1) what waits; `paid` where its hash has hg:p.
local function count_waiting(b, sign, priority, cost, paid)
  if paid then
    b.paid = math.max(0, b.paid + sign)
    b.paid_cost = b.paid > 0 and b.paid_cost + sign * cost or 0
    return
  end
  b.w[priority] = b.w[priority] + sign * cost
  if cost ~= 1 then b.odd = math.max(0, b.odd + sign) end
end

local function count_bytes(b, sign, bytes)
  b.bytes = math.max(0, b.bytes + sign * bytes)
end

local function no_waiting_cost(b)
  b.odd, b.paid, b.paid_cost = 0, 0, 0
  for p = 1, 10 do b.w[p] = 0 end
end
