import type { ContentBlock } from '../../packages/contracts/src/index.ts';
import {
  allText,
  blocksOf,
  cutStream,
  delay,
  errorInStream,
  hang,
  httpError,
  lastResults,
  type MessagesRequest,
  offersTool,
  overloaded,
  rateLimited,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';

/** What this model is told of the job that is being played. */
export interface Scene {
  schedule: Schedule;
  random: Random;
  /** False once the last fault is over: from then on no call goes wrong. */
  isStormy: boolean;
}

interface Call {
  id: string;
  name: string;
}

/** The calls in the conversation, and which of them came back without an error. */
function callsOf(request: MessagesRequest): { calls: Call[]; done: Set<string> } {
  const blocks = request.messages.flatMap((message) => blocksOf(message));
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name }) => ({ id: String(id), name: String(name) }));
  const good = blocks.filter((block) => block.type === 'tool_result' && block.is_error !== true);
  return { calls, done: new Set(good.map((block) => String(block.tool_use_id))) };
}

function doneOf(request: MessagesRequest, name: string): number {
  const { calls, done } = callsOf(request);
  return calls.filter((call) => call.name === name && done.has(call.id)).length;
}

/** A call whose ID is its effect: the command writes it down, so that an effect that happens twice shows. */
function effect(random: Random): ContentBlock {
  const id = `toolu_effect_${random.int(0, 2 ** 30)}_${random.int(0, 2 ** 30)}`;
  return toolUse('run_command', { command: `echo ${id} >> effects.log` }, id);
}

/** One step of a sub-agent: its checklist, its effects, its submission; an effect that failed is tried anew. */
function subAgentStep(request: MessagesRequest, { schedule, random }: Scene): ContentBlock[] {
  const shown = allText(request);
  const taskId = /"taskId":"(t_[^"]+)"/.exec(shown)?.[1] ?? '';
  const key = /"key":"(k\d+)"/.exec(shown)?.[1];
  const effects = schedule.tasks.find((task) => task.key === key)?.effects ?? 0;
  if (doneOf(request, 'todo_write') === 0) {
    const todos = [{ content: 'Do it', status: 'in_progress' }];
    return [toolUse('todo_write', { todos }), toolUse('board_note', { taskId, text: 'begun' })];
  }
  if (doneOf(request, 'run_command') < effects && offersTool(request, 'run_command')) return [effect(random)];
  return [toolUse('board_submit', { taskId, summary: `done ${key ?? ''}` })];
}

/** Whether the last message says that all is settled: in an answer, or as news after a turn in plain text. */
function hearsOfEnd(request: MessagesRequest): boolean {
  const news = blocksOf(request.messages.at(-1) ?? {}).map(({ text: said }) => String(said));
  const told = lastResults(request).map(({ text: said }) => said);
  return [...news, ...told].some((said) => said.includes('"allSettled":true'));
}

/** One step of the lead: its plan, then waits until all is settled, then the end. */
function leadStep(request: MessagesRequest, { schedule }: Scene): ContentBlock[] {
  if (schedule.withLead && doneOf(request, 'board_plan') === 0) {
    const ops = schedule.tasks.map(({ key, dependsOn }) => ({
      op: 'add',
      key,
      title: `Task ${key}`,
      dependsOn,
    }));
    return [toolUse('board_plan', { ops })];
  }
  return hearsOfEnd(request)
    ? [toolUse('finish_job', { summary: 'all is settled' })]
    : [toolUse('board_wait')];
}

/** A call as a model gets it wrong: input of another shape, a tool that is not there, no call at all. */
function malformed(random: Random): ScriptedReply {
  return random.pick([
    () => reply([toolUse('board_submit', { taskId: 7, summary: ['x'] })]),
    () => reply([toolUse('no_such_tool', { a: 1 })]),
    () => reply([toolUse('board_note', { taskId: 't_22222222', text: 'not mine' })]),
    () => reply([text('I am thinking about it.')]),
  ])();
}

function gone(random: Random): ScriptedReply {
  return random.pick([
    () => rateLimited(1),
    () => overloaded(),
    () => httpError(500, 'api_error'),
    () => hang(),
    () => cutStream(random.int(0, 4)),
    () => errorInStream(random.int(1, 3)),
    () => malformed(random),
  ])();
}

/** Starts the model of a run; `sceneNow` is asked at each call, since one model serves all seeds of a run. */
export function startChaosModel(sceneNow: () => Scene) {
  return startScriptedApi((request) => {
    const scene = sceneNow();
    const { schedule, random, isStormy } = scene;
    if (isStormy && random.chance(schedule.modelFaultShare)) return gone(random);
    const step = offersTool(request, 'finish_job') ? leadStep(request, scene) : subAgentStep(request, scene);
    // Calls take their time while things go wrong, so that what goes wrong meets them.
    return isStormy ? delay(random.int(10, 250), reply(step)) : reply(step);
  });
}
