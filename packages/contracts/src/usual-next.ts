import type { CrewboardError } from './errors.ts';
import type { NextCall } from './next-call.ts';

const again = (change?: string): NextCall => ({
  call: 'again',
  ...(change === undefined ? {} : { with: change }),
});

/** The next call after an error that names none; undefined: it depends on where the error was met. */
export function usualNext({ code, extras, retry }: CrewboardError): NextCall | undefined {
  const taskId = typeof extras.current?.taskId === 'string' ? extras.current.taskId : undefined;
  const readTask: NextCall = { call: 'read_task', ...(taskId === undefined ? {} : { taskId }) };
  switch (code) {
    case 'stale_version':
    case 'not_owner':
    case 'invalid_transition':
    case 'parallel_in_progress':
      return readTask;
    case 'not_ready':
      return { ...readTask, call: 'explain_task' };
    case 'already_claimed':
    case 'lease_lost':
      return { call: 'claim' };
    case 'terminal':
      return taskId === undefined ? { call: 'read_result' } : readTask;
    // Sent as it stands, an example of the call could change what its reader did not mean to.
    case 'invalid_argument':
    case 'duplicate_key':
      return { ...readTask, call: 'look' };
    case 'dependency_cycle':
    case 'unknown_dependency':
      return { call: 'list_tasks' };
    case 'board_paused':
    case 'budget_exhausted':
      return { call: 'read_job' };
    case 'idempotency_mismatch':
      return again('a new Idempotency-Key');
    case 'unauthorized':
      return again('"Authorization: Bearer <key>"');
    case 'unsupported_media_type':
      return again('"Content-Type: application/json"');
    case 'payload_too_large':
      return again('a smaller body');
    case 'evidence_required':
    case 'check_failed':
    case 'method_not_allowed':
    case 'rate_limited':
      return again();
    case 'unavailable':
      return retry === 'never' ? undefined : again();
    case 'plan_mode':
    case 'not_found':
    case 'forbidden':
    case 'limit_exceeded':
      return taskId === undefined ? undefined : readTask;
  }
}
