-- A holder outside is shown messages with the answer of a heartbeat. They count as delivered once its next call proves
-- that the answer has come; the same heartbeat again shows the same, for the answer may have been lost.
-- ARGV: 1 task ID, 2 token, 3 request ID of the heartbeat, '' without one and for other calls, then the IDs of messages
--       that wait and may be shown now
-- Returns 'ok' and those that are shown now.
local id, token, request = ARGV[1], ARGV[2], ARGV[3]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '')
if refused then return refused end
local before = shown_messages(id, token)
if before.request == request and request ~= '' then return { 'ok', before.ids } end
for _, message in ipairs(before.ids) do deliver_message(B, id, T, message) end
local waiting, showing = messages_for(id), {}
for at = 4, #ARGV do
  if waiting:find(ARGV[at], 1, true) then showing[#showing + 1] = ARGV[at] end
end
if #showing > 0 then keep_shown(id, token, request, showing) else forget_shown(id) end
save_board(B)
return { 'ok', showing }
