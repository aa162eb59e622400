-- What an archive must carry to be this board's.
-- Returns 'ok', the stamp, when the job ended; 'open' when it has not.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
if not is_ended(B) then return { 'open' } end
return { 'ok', stamp_of(B), B[ENDED] }
