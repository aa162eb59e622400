-- Goes on filling the window; carrying it out twice fills it no further.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
dispatch(B)
save_board(B)
return { 'ok' }
