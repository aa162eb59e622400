import type { Attempt, Task } from '@crewboard/contracts';

/**
 * A task's attempts as they are shown: while it is in review the last one has ended and has no outcome yet, since the
 * review decides it (the board keeps that it was handed in, and `rejected` in its place after that).
 */
export function decidedAttempts(
  { status, attempt: last }: Pick<Task, 'status' | 'attempt'>,
  attempts: readonly Attempt[],
): Attempt[] {
  if (status !== 'in_review') return [...attempts];
  return attempts.map(({ outcome, ...attempt }) =>
    outcome === undefined || (attempt.attempt === last && outcome === 'completed')
      ? attempt
      : { ...attempt, outcome },
  );
}
