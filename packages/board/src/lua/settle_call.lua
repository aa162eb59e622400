-- Books a call whose reply stands in no journal: failed, cut, unusable, or refused because its attempt was over. Also
-- long after, and on ended jobs: what is known replaces what was reserved or estimated.
-- ARGV: 1 task ID, 2 token of any attempt of it, 3 call ID, 4 'settled' | 'estimated' (known only in part), 5 nano-USD,
--       6 tokens, 7 usage: JSON [modelCalls, input, output, cacheRead, cacheWrite] or ''
-- Returns 'ok', or 'already' when it was settled before.
local id = ARGV[1]
local B, T = load(id)
local refused = refuse_board(B)
if refused then return refused end
if not T then return refuse('not_found', id, nil, { what = 'task' }) end
if not is_known_token(id, ARGV[2]) then return refuse('not_owner', id, T) end
local sum = ARGV[4] == 'estimated' and ESTIMATED or SETTLED
local usage = ARGV[7] ~= '' and cjson.decode(ARGV[7]) or nil
return { settle_call(id, ARGV[3], sum, tonumber(ARGV[5]), tonumber(ARGV[6]), usage) and 'ok' or 'already' }
