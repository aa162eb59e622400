-- What the board says to a holder before it looks at what the holder wants; changes nothing.
-- ARGV: 1 task ID, 2 token, 3 name of the call (lib/holder.lua) or '', 4 version or ''
-- Returns 'ok', or 'already' when the request was carried out before; else the refusal, in the fixed order.
local id, token = ARGV[1], ARGV[2]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, ARGV[3], tonumber(ARGV[4]))
if refused then return refused end
return { 'ok' }
