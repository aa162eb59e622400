import { JsonValue } from '@crewboard/contracts';
import { z } from 'zod';
import { type Conversation, parseAs, toldBlock } from './conversation.ts';

const TaskShown = z.looseObject({
  taskId: z.string().optional(),
  id: z.string().optional(),
  title: z.string().catch(''),
  instructions: z.string().catch(''),
  input: z.unknown().optional(),
  acceptance: z.array(z.looseObject({ id: z.string() })).catch([]),
  dependsOn: z.array(z.looseObject({ task: z.string() })).catch([]),
});

/** What the sub-agent was given to do. */
export interface AssignedTask {
  taskId: string;
  title: string;
  instructions: string;
  input: unknown;
  acceptanceIds: string[];
  /** IDs of dependencies, as far as the task shows them. */
  dependsOn: string[];
}

/** The result of one dependency, as the prompt and `board_get` show it. */
export const DependencyResult = z.looseObject({
  taskId: z.string(),
  title: z.string().catch(''),
  status: z.string().catch(''),
  output: JsonValue.optional().catch(undefined),
  failure: z
    .looseObject({ reason: z.string().catch('') })
    .optional()
    .catch(undefined),
});
export type DependencyResult = z.infer<typeof DependencyResult>;

const DependenciesShown = z.looseObject({
  results: z.array(DependencyResult).catch([]),
  moreDependencies: z.number().catch(0),
});
export type DependenciesShown = z.infer<typeof DependenciesShown>;

/** The task as it was last shown; null when the conversation shows none. */
export function assignedTask(conversation: Conversation): AssignedTask | null {
  const shown = parseAs(TaskShown, toldBlock(conversation, 'task') ?? '');
  const taskId = shown?.taskId ?? shown?.id;
  if (shown === null || taskId === undefined) return null;
  const { title, instructions, input, acceptance, dependsOn } = shown;
  return {
    taskId,
    title,
    instructions,
    input,
    acceptanceIds: acceptance.map(({ id }) => id),
    dependsOn: dependsOn.map(({ task }) => task),
  };
}

/** The results of dependencies that the prompt shows, and how many it leaves out. */
export function shownDependencies(conversation: Conversation): DependenciesShown {
  const shown = parseAs(DependenciesShown, toldBlock(conversation, 'dependencies') ?? '');
  return shown ?? { results: [], moreDependencies: 0 };
}

const PATH =
  /(?:^|[\s`"'(])((?:[\w.@-]+\/)*[\w.@-]+\.[A-Za-z][A-Za-z0-9]{0,7})(?=$|[\s`"'),;:!?]|\.(?:\s|$))/;

function pathIn(text: string): string | null {
  return PATH.exec(text)?.[1] ?? null;
}

/** A path that `input` names: its `path` or `file`, or a text that looks like one. */
export function inputPath(input: unknown): string | null {
  if (typeof input === 'string') return pathIn(input) === input ? input : null;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  const named = 'path' in input ? input.path : 'file' in input ? input.file : undefined;
  if (typeof named === 'string' && named !== '') return named;
  const texts = Object.values(input).filter((value) => typeof value === 'string');
  return texts.find((value) => pathIn(value) === value) ?? null;
}

/** A path that the instructions or the title mention; it may be a mere word such as "Node.js". */
export function mentionedPath({ instructions, title }: AssignedTask): string | null {
  return pathIn(instructions) ?? pathIn(title);
}
