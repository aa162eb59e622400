-- Goes on with the dependents of a task that has many.
-- ARGV: 1 mend 0|1, 2 task ID, 3 start (0-based), 4 most edges
-- Returns 'ok', findings, dependents, where the rest begins or -1.
local id = ARGV[2]
local B, T = load_board(), readable(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return { 'ok', findings, '', -1 } end
local edges, rest = check_edges(id, T, tonumber(ARGV[3]), tonumber(ARGV[4]))
return { 'ok', findings, edges, rest }
