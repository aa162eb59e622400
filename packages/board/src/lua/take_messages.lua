-- A holder outside is told of messages with the answer of its heartbeat.
-- ARGV: 1 task ID, 2 token, then the message IDs
-- Returns 'ok' and those that it is told of now.
local id, token = ARGV[1], ARGV[2]
local B, T = load(id)
local refused = refuse_holder(B, id, T, token, '')
if refused then return refused end
local taken = {}
for i = 3, #ARGV do
  if deliver_message(B, id, T, ARGV[i]) then taken[#taken + 1] = ARGV[i] end
end
save_board(B)
return { 'ok', taken }
