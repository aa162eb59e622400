-- Takes an ended board out of Redis, in one step. Of an archived one nothing is left; of a deleted one the order of its
-- tasks and the job's record stay, by which its journals are found and which the caller removes last.
-- ARGV: 1 'archived' | 'deleted', and for an archived one: 2 its stamp, 3 how long ago it must have ended, in ms
-- Returns 'ok' (also when there is no board), 'open' when the job has not ended, 'changed' when the archive is not this
-- board's, when it has not been over for long enough, or when something is still to be handed on.
local B = load_board()
if not B then return { 'ok' } end
local refused = refuse_board(B)
if refused then return refused end
if not is_ended(B) then return { 'open' } end
if ARGV[1] == 'archived' then
  local isOld = now() - B[ENDED] >= tonumber(ARGV[3])
  if not isOld or stamp_of(B) ~= ARGV[2] or redis.call('XLEN', outboxKey) > 0 then return { 'changed' } end
  redis.call('UNLINK', unpack(KEYS))
  return { 'ok' }
end
local gone = {}
for _, key in ipairs(KEYS) do
  if key ~= orderKey and key ~= jobKey then gone[#gone + 1] = key end
end
redis.call('UNLINK', unpack(gone))
return { 'ok' }
