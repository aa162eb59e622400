import type { Task } from '@crewboard/contracts';

/**
 * What a change that has just made `task` what it is means for it, where its fields do not say so by themselves: one
 * that asks to be cancelled with its dependencies does not wait for a lost one to come back. Undefined: nothing.
 */
export function warningsOf(task: Task): string[] | undefined {
  if (task.onDependencyLost !== 'cancel' || task.readiness?.state !== 'unreachable') return undefined;
  const lost = task.readiness.because.join(', ');
  return [
    `this task is cancelled again at once: a dependency of it is lost (${lost}) and its onDependencyLost is "cancel". ` +
      'Reopen that one first, or set onDependencyLost to "hold".',
  ];
}
