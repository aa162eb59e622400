import type { Boards, Hold, RedisClient } from '@crewboard/board';
import type { Actor, DependencyRef, NewTask } from '@crewboard/contracts';
import type { Delay, Lease, NewModelTask, Reference } from './calls.ts';
import { FAR, type Settings } from './state.ts';

/** What the calls on a board in Redis share: how the model's names stand for the board's. */

export const ANN: Actor = { kind: 'user', id: 'ann' };
export const LEAD: Actor = { kind: 'lead', id: 'lead' };
const NOBODY = 't_zzzzzzzz';
export const SHORT_MS = 1;

export const leaseMs = (lease: Lease) => ({ none: 0, short: SHORT_MS, long: FAR })[lease];
export const delayMs = (delay: Delay) => ({ none: 0, soon: SHORT_MS, far: FAR })[delay];

export interface Names {
  ids: Map<number, string>;
  numbers: Map<string, number>;
  /** By the number of the claim: its token; and of the runner: its token. */
  claims: string[];
  runners: string[];
  /** Of tools that were started and have not ended, by claim. */
  tools: Map<number, string[]>;
}

export interface Bench {
  boards: Boards;
  redis: RedisClient;
  jobId: string;
  names: Names;
  settings: Settings;
}

export function remember(names: Names, number: number, taskId: string): void {
  names.ids.set(number, taskId);
  names.numbers.set(taskId, number);
}

export const idOf = ({ names }: Bench, number: number) => names.ids.get(number) ?? NOBODY;

/** The proof that a claim of the model stands for. */
export function holdOf(bench: Bench, { task, claim }: { task: number; claim: number }): Hold {
  return { jobId: bench.jobId, taskId: idOf(bench, task), token: bench.names.claims[claim - 1] ?? '' };
}

/** A new task as callers of the board write it. */
export function toNewTask(nameOf: (number: number) => string, task: NewModelTask): NewTask {
  return {
    title: task.title,
    dependsOn: toReferences(nameOf, task.dependsOn),
    onDependencyLost: task.onLost,
    priority: task.priority,
    executor: task.executor,
    ...(task.key === undefined ? {} : { key: task.key }),
    ...(task.maxAttempts === undefined ? {} : { maxAttempts: task.maxAttempts }),
    ...(task.replaces === undefined ? {} : { replaces: nameOfReference(nameOf, task.replaces) }),
  };
}

export function toReferences(
  nameOf: (number: number) => string,
  references: NewModelTask['dependsOn'],
): DependencyRef[] {
  return references.map(({ on, condition }) => ({ task: nameOfReference(nameOf, on), condition }));
}

const nameOfReference = (nameOf: (number: number) => string, on: Reference) =>
  'key' in on ? on.key : nameOf(on.task);
