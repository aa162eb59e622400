import type { Usage } from '@crewboard/contracts';

/** What is known of the tokens of a call that brought no reply to go on with. */
export type CallSpent =
  /** It never reached a model, or was refused before one read it. */
  | { kind: 'nothing' }
  /** All of it: the reply was whole, but could not be used. */
  | { kind: 'used'; usage: Usage }
  /** Its input; of the output, only that there was some. */
  | { kind: 'begun'; usage: Usage }
  | { kind: 'unknown' };
