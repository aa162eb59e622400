import { JobId, TaskId } from '@crewboard/contracts';
import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';

/** Returns a parser by a schema, whose own words tell what the value must be. */
export const parsedBy =
  <T>(schema: z.ZodType<T>) =>
  (text: string): T => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'is not valid');
  };

/** Returns a parser that gathers the values of a flag that may be repeated. */
export const collectedBy =
  <T>(parse: (text: string) => T) =>
  (text: string, before: readonly T[] = []): T[] => [...before, parse(text)];

/** Returns a parser of words of a list; several have commas between them, or come one by one; each counts once. */
function wordsArgument<const Word extends string>(
  choices: readonly Word[],
): (text: string, before?: readonly Word[]) => Word[] {
  return (text, before = []) => {
    const words = text.split(',').map((part) => part.trim());
    const known = words.flatMap((word) => choices.filter((choice) => choice === word));
    if (known.length === words.length) return [...new Set([...before, ...known])];
    throw new InvalidArgumentError(
      `must be one of ${choices.join(', ')}, or several with commas between them`,
    );
  };
}

/** The one form of `--status`, whichever statuses a command knows: repeatable, and several with commas between them. */
export function statusOption<const Word extends string>(what: string, choices: readonly Word[]): Option {
  return new Option('--status <status>', `${what}; may be repeated, or name several: a,b`)
    .choices(choices)
    .argParser(wordsArgument(choices));
}

/** Parses a TCP port; 0 means a free one. */
export function portArgument(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('must be a port number from 0 to 65535');
}

/** Parses a job's ID. */
export function jobArgument(text: string): string {
  const id = JobId.safeParse(text);
  if (id.success) return id.data;
  throw new InvalidArgumentError('must be a job ID such as job_4kx9m2ab7ycd (`crewboard ls` lists them)');
}

/** Parses a task's ID, or its number. */
export function taskArgument(text: string): string | number {
  if (/^#?\d{1,7}$/.test(text)) return Number(text.replace('#', ''));
  const id = TaskId.safeParse(text);
  if (id.success) return id.data;
  throw new InvalidArgumentError(
    'must be a task ID such as t_4kx9m2ab, or a number, 0 for the lead (`crewboard board JOB` lists them)',
  );
}

/** Parses a number of things, from 1 to `most`. */
export function countArgument(text: string, most: number): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count >= 1 && count <= most) return count;
  throw new InvalidArgumentError(`must be a number from 1 to ${most}`);
}

/** Parses the server's URL. */
export function urlArgument(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('must be an http or https URL such as http://127.0.0.1:7420');
}

/** Parses an API key; what was given is never repeated. */
export function keyArgument(text: string): string {
  if (text === '')
    throw new InvalidArgumentError(
      'must not be empty: give the key, or leave --key out for CREWBOARD_API_KEY or the key in the data folder',
    );
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidArgumentError(
    'has a character that no key has, such as a space, a line break or a letter with an accent: copy it again',
  );
}

/** Parses the name of a file or folder; an empty one is mostly a variable of a script that is not set. */
export function pathArgument(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('must not be empty');
}
