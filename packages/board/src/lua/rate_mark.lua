-- Marks on the board what holds the calls of a model back, for readers; the event is written once a mark.
-- ARGV: 1 by, 2 'opened' (it answers nobody) | 'braked' (everybody waits a while), 3 model, 4 the mark: a reason, or when
--       the brake began, 5 data of the event as JSON
-- Returns 'ok', or 'already'.
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local field = ARGV[2] .. ':' .. ARGV[3]
local mark = redis.call('HGET', rateKey, field)
if is_ended(B) or mark == ARGV[4] or (mark and ARGV[2] == 'opened') then return { 'already' } end
redis.call('HSET', rateKey, field, ARGV[4])
emit('rate.' .. ARGV[2], '', nil, ARGV[1], ARGV[5])
return { 'ok' }
