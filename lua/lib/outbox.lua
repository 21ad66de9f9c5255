--[[
  Ends that somebody wants to be told of. The field hg:u of a job's hash says of which, a letter each, and behind them
  where to, if not where its tenant says. Such an end goes to …:outbox in the script that brings it about, so that no crash
  comes between the two; src/shaping/outbox.ts makes deliveries of what stands there.

  An entry is: tenant, id, ending, at (ms since 1970), hook (what hg:u has), value (the result as JSON, or the reason) and
  bytes of that. A value of more than MAX_CARRIED bytes is left out. Where nobody ever comes for them, the oldest of
  MAX_ENTRIES entries go.
]]
--- @include "lib/bucket"

local ENDING_LETTERS = { completed = 'c', failed = 'f', expired = 'e', cancelled = 'x' }
local MAX_CARRIED, MAX_ENTRIES = 16384, 1000000

local function tell_end(b, hook, id, ending, value)
  if not hook or not string.find(string.match(hook, '^%a*'), ENDING_LETTERS[ending], 1, true) then return false end
  call('XADD', tag .. ':outbox', 'MAXLEN', '~', MAX_ENTRIES, '*', 'tenant', b.tenant, 'id', id, 'ending', ending,
    'at', now_ms, 'hook', hook, 'value', #value <= MAX_CARRIED and value or '', 'bytes', #value)
  return true
end
