/** Calls of one turn that are run. */
export const TURN_CALLS_MOST = 128;

/** Answers a call that is not run, because its turn has too many. */
export const TOO_MANY_CALLS = `not run: too many calls in one turn, at most ${TURN_CALLS_MOST} are run. Call it again in a later turn if it is still needed.`;

/** Answers a call that is not run, because its turn has made it often enough already. */
export const SAME_CALL_REFUSED =
  'not run: this turn has made the same call with the same input before, as often as it may. Do something else: other input, another tool, or end your task with the true reason.';

/** True for the answer of a call that a bound of its turn kept from being run. */
export function isNotRun({ content, isError }: { content: string; isError: boolean }): boolean {
  return isError && (content === TOO_MANY_CALLS || content === SAME_CALL_REFUSED);
}
