import { CrewboardError, type JobBody } from '@crewboard/contracts';

/**
 * Fields that the contracts know and this version does not carry out yet. They are refused, never ignored: a budget
 * that nobody watches is worse than none.
 */
function refuse(path: string, instead: string): never {
  throw new CrewboardError('invalid_argument', `${path} is not supported by this version: ${instead}`, {
    path,
  });
}

/** Refuses what of a job's body is not carried out yet. */
export function refuseLaterJobFields(body: JobBody): void {
  if (body.models?.judge !== undefined) refuse('models.judge', 'leave it out');
}
