-- Where `doctor` begins: can this version read the board at all?
-- Returns 'ok', job status, time of its end or 0, 0 while a submit fills it, else 1; 'format', the board's format and the one known.
local B = load_board()
if not B then return refuse_board(B) end
if type(B[FORMAT]) ~= 'number' or B[FORMAT] < 1 or B[FORMAT] > BOARD_FORMAT then
  return { 'format', tostring(B[FORMAT]), BOARD_FORMAT }
end
return { 'ok', B[STATUS], B[ENDED], B[STATUS] == 'accepting' and B[FILL] ~= '' and 0 or 1 }
