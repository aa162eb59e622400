-- Deletes a board that was never flipped: all its keys, in one step, and only while it is still being filled.
-- ARGV: 1 how old it must be, in ms
-- Returns 'ok', or 'kept' when it is younger, or was flipped meanwhile, or is filled and held.
local B = load_board()
if not B then return { 'ok' } end
local refused = refuse_board(B)
if refused then return refused end
if B[STATUS] ~= 'accepting' or B[FILL] == '' or now() - B[CREATED] < tonumber(ARGV[1]) then return { 'kept' } end
redis.call('UNLINK', unpack(KEYS))
return { 'ok' }
