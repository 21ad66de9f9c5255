--[[
  Redis' own JSON. BullMQ's scripts find another one under its name (lib/bull_helpers), which stands on this.
]]
local function json_encode(value) return cjson.encode(value) end
local function json_decode(text) return cjson.decode(text) end
