-- Goes on filling the window; carrying it out twice fills it no further.
local B = load_board()
if not B then return { 'ok' } end
dispatch(B)
save_board(B)
return { 'ok' }
