-- Some of a board's artifacts, whether they show under a path or not. ARGV: 1 scan cursor, 2 about how many fields
-- Returns 'ok', the next cursor ('0' at the end), the records, each with its number under its path or 0, the last number.
local refused = refuse_board(load_board())
if refused then return refused end
local scanned = redis.call('HSCAN', artifactsKey, ARGV[1], 'MATCH', 'r:*', 'COUNT', ARGV[2])
local rows = {}
for i = 1, #scanned[2], 2 do
  local A = cmsgpack.unpack(scanned[2][i + 1])
  rows[#rows + 1] = { artifact_row(scanned[2][i]:sub(3), A), A[ART_SHOWN] }
end
return { 'ok', scanned[1], rows, tonumber(redis.call('HGET', artifactsKey, 'n') or 0) }
