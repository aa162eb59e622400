-- Goes on finishing a job whose budget is used up: open tasks that nobody works on are cancelled in slices. Those under
-- way end by themselves; at their next call that does not fit they come back here.
-- ARGV: 1 most
-- Returns 'ok'.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if B[WINDING_UP] ~= WINDS_UP or is_ended(B) or B[CANCELLING] == 1 then return { 'ok' } end
local most = tonumber(ARGV[1])
local ids = idle_tasks(most)
for _, id in ipairs(ids) do cancel_task(B, id, load_task(id), 'budget', 'harness:budget') end
if #ids == most then hand_on('wind_up', '', 0, 0) end
check_end(B, last_event())
save_board(B)
return { 'ok' }
