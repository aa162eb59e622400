-- Some tasks by ID. ARGV: 1 full 0|1, then IDs.
-- Returns 'ok', board record, rows in the order asked (an absent task is an empty row).
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local rows = {}
for i = 2, #ARGV do
  local T = load_task(ARGV[i])
  rows[#rows + 1] = T and row(B, ARGV[i], T, ARGV[1] == '1') or {}
end
return { 'ok', B, rows }
