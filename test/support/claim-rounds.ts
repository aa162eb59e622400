import type { Boards } from '@crewboard/board';
import type { BoardEvent } from '@crewboard/contracts';
import { newSecret } from '@crewboard/contracts';
import type { BoardFixture } from './board.ts';
import type { ClaimerProcess } from './claimer-process.ts';
import type { RaceResult } from './claimer-protocol.ts';

/**
 * What the claimers race for. `ready`: a task that is ready when they start. `comes ready`: one whose dependency is
 * submitted while they try. `comes back`: one that its holder releases while they try. `next`: like `comes ready`, but
 * they name no task, as external holders do.
 */
export const ROUND_KINDS = ['ready', 'comes ready', 'comes back', 'next'] as const;
export type RoundKind = (typeof ROUND_KINDS)[number];

/** One connection of one claimer process. */
export interface Claimer {
  process: ClaimerProcess;
  lane: number;
}

const NOTHING = { summary: 'done', artifacts: [], evidence: [] };
/** What a claimer may be told that does not get the task; `nothing`: none is ready, or it is not dispatched. */
const REFUSALS: Record<RoundKind, readonly string[]> = {
  ready: ['already_claimed'],
  'comes ready': ['not_ready', 'nothing', 'already_claimed'],
  'comes back': ['nothing', 'already_claimed'],
  next: ['nothing'],
};

/** `count` claimers, as evenly as can be over the processes. */
export function claimersOf(processes: readonly ClaimerProcess[], count: number): Claimer[] {
  return Array.from({ length: count }, (_, i) => {
    const process = processes[i % processes.length];
    if (process === undefined) throw new Error('no claimer process');
    return { process, lane: Math.floor(i / processes.length) };
  });
}

/** Follows the log: throws when a task was claimed that was not ready. Answers how often each task was claimed. */
export function claimsIn(events: readonly BoardEvent[], dependsOn: ReadonlyMap<string, string>) {
  const completed = new Set<string>();
  const isHeld = new Set<string>();
  const claims = new Map<string, number>();
  for (const { type, taskId = '', attempt } of events) {
    if (type === 'task.completed') completed.add(taskId);
    if (type === 'task.completed' || type === 'task.released') isHeld.delete(taskId);
    if (type !== 'task.claimed') continue;
    const on = dependsOn.get(taskId);
    if (on !== undefined && !completed.has(on))
      throw new Error(`${taskId} was claimed before ${on} was completed`);
    if (isHeld.has(taskId) || completed.has(taskId))
      throw new Error(`attempt ${attempt} of ${taskId} was no claim`);
    isHeld.add(taskId);
    claims.set(taskId, (claims.get(taskId) ?? 0) + 1);
  }
  return claims;
}

/** Runs the claimers against each other until one has won and each of the others has tried once more. */
async function compete(
  claimers: readonly Claimer[],
  order: Parameters<ClaimerProcess['race']>[0],
  giveFree: () => Promise<unknown>,
): Promise<RaceResult[]> {
  const races = claimers.map(({ process, lane }) => process.race({ ...order, lane }));
  await Promise.all(races.map(({ tried }) => tried));
  await giveFree();
  await Promise.race(races.map(({ ended }) => ended));
  for (const race of races) race.stop();
  return Promise.all(races.map(({ ended }) => ended));
}

async function checkResults(
  boards: Boards,
  kind: RoundKind,
  jobId: string,
  taskId: string,
  results: RaceResult[],
) {
  const winners = results.filter(({ won }) => won !== undefined);
  const [winner] = winners;
  if (winners.length !== 1 || winner?.won?.taskId !== taskId)
    throw new Error(`${winners.length} claimers won: ${JSON.stringify(winners)}`);
  for (const { won, refusals } of results) {
    const odd = Object.keys(refusals).filter((code) => !REFUSALS[kind].includes(code));
    if (odd.length > 0) throw new Error(`a claimer was refused with ${odd.join(', ')}`);
    // That the race was one: whoever lost has tried, and whoever won had to wait for it.
    if ((won === undefined || kind !== 'ready') && Object.keys(refusals).length === 0)
      throw new Error('a claimer never tried');
  }
  // The token that the winner was given is the one that counts.
  const { version } = await boards.task(jobId, taskId);
  await boards.submit({ jobId, taskId, token: winner.won.token }, newSecret(), version, NOTHING);
}

/**
 * One race over a job of its own. Throws when not exactly one claimer won, when a task was claimed that was not ready,
 * or when the winner's token is not the task's. Answers how often claimers were refused, by code.
 */
export async function runRound(
  fixture: Pick<BoardFixture, 'boards' | 'job' | 'claim'>,
  kind: RoundKind,
  claimers: readonly Claimer[],
): Promise<Record<string, number>> {
  const { boards } = fixture;
  const isNext = kind === 'next';
  const { jobId, ids } = await fixture.job([
    { key: 'gate', title: 'Comes first' },
    { key: 'prize', title: 'Wanted by all', dependsOn: ['gate'], executor: isNext ? 'external' : 'agent' },
  ]);
  const { gate = '', prize = '' } = ids;
  const opener = await fixture.claim(jobId, gate, 'opener');
  const open = () => boards.submit(opener.hold, newSecret(), opener.task.version, NOTHING);
  let giveFree: () => Promise<unknown> = open;
  if (kind === 'ready') {
    await open();
    giveFree = async () => {};
  }
  if (kind === 'comes back') {
    await open();
    const holder = await fixture.claim(jobId, prize, 'holder');
    giveFree = () => boards.release(holder.hold, newSecret(), 'for whoever comes first');
  }
  const race = { lane: 0, jobId, kind: isNext ? 'external' : 'sub-agent' } as const;
  const results = await compete(claimers, isNext ? race : { ...race, taskId: prize }, giveFree);
  await checkResults(boards, kind, jobId, prize, results);

  const claims = claimsIn(await boards.events(jobId, '0-0', 1000), new Map([[prize, gate]]));
  const expected = kind === 'comes back' ? 2 : 1;
  const { status } = await boards.job(jobId);
  if (claims.get(prize) !== expected || status !== 'succeeded')
    throw new Error(`the job is ${status} after ${claims.get(prize)} claims`);
  const sum: Record<string, number> = {};
  for (const { refusals } of results)
    for (const [code, times] of Object.entries(refusals)) sum[code] = (sum[code] ?? 0) + times;
  return sum;
}
