--[[
  New jobs of one request at the back of their own priorities, as BullMQ's addPrioritizedJob has them join what waits. They
  are written together: with one command for the numbers by which they stand in order, and one for the jobs. Until then
  they are counted in b.joining by their priority, as lib/eta reads it.
]]
--- @include "lib/bucket"

local joining = {}
local joined

local function begin_joining()
  joined = {}
end

function joining.begin(b)
  joined, b.joining = {}, {}
end

-- What BullMQ's script calls for the job that it has stored, of the priority that the script has as text.
function joining.add(priority, id)
  local n = #joined
  joined[n + 1], joined[n + 2] = tonumber(priority), id
end

-- Before anybody looks at what waits, and at the end of a request.
function joining.write(b)
  if not joined[1] then return end
  local order = call('INCRBY', b.prefix .. 'pc', num(#joined / 2)) - #joined / 2
  for i = 1, #joined, 2 do
    order = order + 1
    joined[i] = num(joined[i] * 0x100000000 + order % 0x100000000)
  end
  call('ZADD', b.prioritized, unpack(joined))
  joining.begin(b)
end
