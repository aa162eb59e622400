import { CrewboardError, type Evidence, type Policy, shownLine, type Task } from '@crewboard/contracts';
import { isChecked } from './checks/task-checks.ts';

/** Stands in the example where the evidence has to: sent back as it is, it is none. */
const EVIDENCE_SAMPLE = '<what shows that it holds>';

/** Policy `evidence`: each acceptance item needs a statement or an artifact of its own. */
function refuseMissingEvidence(task: Task, evidence: readonly Evidence[]): void {
  const index = evidence.findIndex(
    (item) => item.acceptanceId !== undefined && !task.acceptance.some(({ id }) => id === item.acceptanceId),
  );
  const unknown = evidence[index];
  if (unknown !== undefined) {
    throw new CrewboardError(
      'invalid_argument',
      `evidence names acceptance "${shownLine(unknown.acceptanceId ?? '', 40)}", which this task does not have.`,
      { path: `evidence[${index}].acceptanceId`, allowed: task.acceptance.map(({ id }) => id) },
    );
  }
  if (task.policy !== 'evidence') return;
  const given = evidence.filter(({ text }) => text !== EVIDENCE_SAMPLE);
  const missing = task.acceptance.filter(({ id }) => !given.some((item) => item.acceptanceId === id));
  if (missing.length === 0) return;
  const added = missing.map(({ id }) => ({
    acceptanceId: id,
    kind: 'statement',
    text: EVIDENCE_SAMPLE,
  }));
  const whole = [...given, ...added];
  throw new CrewboardError(
    'evidence_required',
    `this task needs evidence for ${missing.map(({ id }) => id).join(', ')}.`,
    {
      missing: missing.map(({ id, text }) => ({ acceptanceId: id, text })),
      path: 'evidence',
      fits: whole,
      example: { evidence: whole },
    },
  );
}

/**
 * Refuses what can't be submitted for `task`, by agents and over HTTP alike: evidence that says nothing about it
 * (`invalid_argument`), acceptance without evidence (`evidence_required`). That artifacts exist is the board's to say.
 */
export function refuseUnfitSubmission(task: Task, evidence: readonly Evidence[]): void {
  refuseMissingEvidence(task, evidence);
}

/** What a submission does that has no checks, or has passed them: complete the task, or send it to its review. */
export function nextAfterSubmit(policy: Policy): 'complete' | 'review' {
  return policy === 'approved' ? 'review' : 'complete';
}

/** What a submission from outside does, whose checks a worker runs. */
export function nextFromOutside(task: Task): 'complete' | 'checks' | 'review' {
  return isChecked(task) ? 'checks' : nextAfterSubmit(task.policy);
}

/** Adds to an error about an artifact that is none of the attempt's where the submission names it. */
export function placeArtifact(
  error: unknown,
  { evidence, artifacts = [] }: { evidence: readonly Evidence[]; artifacts?: readonly string[] | undefined },
): unknown {
  if (!(error instanceof CrewboardError) || error.code !== 'invalid_argument') return error;
  const { reference } = error.extras;
  if (typeof reference !== 'string') return error;
  const inEvidence = evidence.findIndex(({ ref }) => ref === reference);
  const inArtifacts = artifacts.indexOf(reference);
  if (inEvidence === -1 && inArtifacts === -1) return error;
  return error.with({
    path: inArtifacts === -1 ? `evidence[${inEvidence}].ref` : `artifacts[${inArtifacts}]`,
  });
}
