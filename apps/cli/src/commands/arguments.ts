import { JobId, TaskId } from '@crewboard/contracts';
import { InvalidArgumentError } from 'commander';

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

/** Parses a task's ID. */
export function taskArgument(text: string): string {
  const id = TaskId.safeParse(text);
  if (id.success) return id.data;
  throw new InvalidArgumentError('must be a task ID such as t_4kx9m2ab (`crewboard board` lists them)');
}

/** Parses a task's ID, or its number. */
export function taskOrNumberArgument(text: string): string | number {
  return /^#?\d{1,7}$/.test(text) ? Number(text.replace('#', '')) : taskArgument(text);
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
