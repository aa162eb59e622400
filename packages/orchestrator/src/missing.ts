import { CrewboardError } from '@crewboard/contracts';

/** True for the error of a job, or a part of one, that is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof CrewboardError && error.code === 'not_found';
