--[[
  What the start of a job put into the books of the type, of its bucket and of fair queuing is corrected while the job
  runs. More is added as if it had been known from the start. Less takes out at most what has not leaked since: of a level
  what is ahead of now, of a finish tag what is ahead of virtual time. So no correction makes room for a burst, and none
  earns credit for what others were served meanwhile.
]]
--- @include "lib/door_charge"
--- @include "lib/place"
--- @include "lib/running_job"

-- A book at `at`, in which a charge ended at `mark`, with `amount` more of that charge: both anew.
local function corrected(amount, mark, at, floor)
  if amount < 0 then amount = -left_of(-amount, mark, at, floor) end
  return at + amount, mark + amount
end

-- The job whose start left `marks` costs `units` more, or less. What paid at the door has its mark in its own hash.
local function correct_start(b, units, marks, paid)
  if not paid then b.tat, marks.tat = corrected(units * b.T, marks.tat, b.tat, now) end
  local type_tat = ty.tat
  ty.tat, marks.type_tat = corrected(units * ty.T, marks.type_tat, type_tat, now)
  -- Whoever was turned away at the type's rate knows a later instant.
  if ty.tat < type_tat and ty.busy > 0 then due_earlier = true end
  count_served(b, units)
  b.finish, marks.finish = corrected(units / b.weight, marks.finish, b.finish, ty.v)
  ty.maxfin = math.max(ty.maxfin, b.finish)
end

-- A bucket that is ready stands where it would, had the cost been known.
local function move_start_tag(b, units)
  local was = b.where == READY and ready.tag_of(b.tenant)
  if not was then return end
  local start_tag = units > 0 and math.max(was, b.finish) or math.min(was, math.max(ty.v, b.finish))
  ready.put(b.tenant, start_tag)
end

-- The start is undone: nothing of it was used.
local function undo_start(b, cost, marks, paid)
  correct_start(b, -cost, marks, paid)
  if not paid then b.jtat = b.jtat - left_of(b.jT, marks.jtat, b.jtat, now) end
  move_start_tag(b, -cost)
end
