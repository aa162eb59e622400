-- The lead asks people something; nothing waits for the answer, which is a message to the lead.
-- ARGV: 1 token, 2 requestId, 3 question, 4 start of it for the log
-- Returns 'ok' | 'already'.
local QUESTIONS_KEPT = 10
local B = load_board()
local refused = refuse_board(B)
if refused then return refused end
local id = B[LEAD]
local T = load_task(id)
refused = refuse_holder(B, id, T, ARGV[1], ARGV[2])
if refused and refused[1] == 'already' then return { 'already' } end
if refused then return refused end
remember(id, ARGV[2])
local questions = cjson.decode(redis.call('HGET', jobKey, 'questions') or '[]')
questions[#questions + 1] = ARGV[3]
if #questions > QUESTIONS_KEPT then table.remove(questions, 1) end
redis.call('HSET', jobKey, 'questions', cjson.encode(questions))
B[QUESTIONS] = B[QUESTIONS] + 1
emit('task.noted', id, T, T[OWNER], cjson.encode({ text = ARGV[4], question = true }))
save_board(B)
return { 'ok' }
