import { z } from 'zod';
import { JobId, TaskId } from './ids.ts';
import { boundedJson, JsonValue } from './json.ts';
import { shownLine } from './shown-text.ts';
import { Condition, Executor, Policy } from './task-states.ts';
import { boundedText, isBlank, isCleanText, requiredText, titleText } from './text.ts';
import { BudgetUsd } from './usage.ts';

/** The caller's own name for a task; unique on its board; any characters but NUL and lone surrogates. */
export const TaskKey = requiredText(200);

const isId = (text: string) => TaskId.safeParse(text).success || JobId.safeParse(text).success;

/** A key as callers choose it: none that reads like an ID, for a reference would mean the one or the other. */
export const NewTaskKey = TaskKey.refine(
  (key) => !isId(key),
  'must not look like a task or job ID such as "t_4kx9m2ab": references name tasks by key or by ID',
);

/** What a caller names as a dependency: a task ID or key, or either with a condition (default `completed`). */
export const DependencyRef = z.union([
  requiredText(200),
  z.strictObject({ task: requiredText(200), condition: Condition.optional() }),
]);
export type DependencyRef = z.infer<typeof DependencyRef>;

/** One task is waited for in one way: named twice with two conditions, either would be a guess. */
const dependencies = z
  .array(DependencyRef)
  .max(10_000)
  .superRefine((references, context) => {
    const conditions = new Map<string, string>();
    for (const [i, reference] of references.entries()) {
      const { task, condition = 'completed' } =
        typeof reference === 'string' ? { task: reference } : reference;
      const before = conditions.get(task) ?? condition;
      conditions.set(task, before);
      if (before === condition) continue;
      context.addIssue({
        code: 'custom',
        path: [i],
        message: `names "${shownLine(task, 200)}" a second time, with the condition ${condition} instead of ${before}: name it once`,
      });
    }
  });

/** An edge as stored: always a task ID and an explicit condition. */
export const Dependency = z.strictObject({ task: TaskId, condition: Condition });
export type Dependency = z.infer<typeof Dependency>;

/** How one acceptance item is checked by the harness. */
export const Check = z.union([
  z.strictObject({ run: requiredText(4096), timeoutMs: z.number().int().min(1).max(86_400_000).optional() }),
  z.strictObject({ schema: z.record(z.string(), JsonValue) }),
]);
export type Check = z.infer<typeof Check>;

/** What must hold for the task to count as done; plain text becomes an item with an ID of its own. */
export const AcceptanceItem = z.strictObject({
  id: z.string().regex(/^[\w-]{1,40}$/, 'must be 1 to 40 letters, digits, "_" or "-"'),
  text: requiredText(2048),
  check: Check.optional(),
});
export type AcceptanceItem = z.infer<typeof AcceptanceItem>;

/** Evidence names an item by its ID, so no two may share one. */
const acceptance = z
  .array(AcceptanceItem)
  .max(50)
  .superRefine((items, context) => {
    const seen = new Set<string>();
    for (const [i, { id }] of items.entries()) {
      if (seen.has(id))
        context.addIssue({
          code: 'custom',
          path: [i, 'id'],
          message: `"${id}" is the ID of another item of this task`,
        });
      seen.add(id);
    }
  });

export const TaskLimits = z.strictObject({
  maxTurns: z.number().int().min(1).max(1000).optional(),
  timeoutMs: z.number().int().min(1000).max(86_400_000).optional(),
  budgetUsd: BudgetUsd.optional(),
});
export type TaskLimits = z.infer<typeof TaskLimits>;

export const Command = z.strictObject({
  run: requiredText(4096),
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
});

const label = z
  .string()
  .min(1)
  .max(64)
  .refine(
    (text) => isCleanText(text) && !isBlank(text) && text.trim() === text,
    'must be clean, not blank and without outer spaces',
  );

const taskFields = {
  title: titleText(),
  instructions: boundedText(16_384).optional(),
  input: boundedJson(65_536).optional(),
  outputSchema: z.record(z.string(), JsonValue).optional(),
  dependsOn: dependencies.optional(),
  onDependencyLost: z.enum(['hold', 'cancel']).optional(),
  acceptance: acceptance.optional(),
  policy: Policy.optional(),
  priority: z.number().int().min(0).max(4).optional(),
  labels: z.array(label).max(20).optional(),
  executor: Executor.optional(),
  command: Command.optional(),
  model: requiredText(200).optional(),
  limits: TaskLimits.optional(),
  parent: requiredText(200).optional(),
  replaces: requiredText(200).optional(),
  maxAttempts: z.number().int().min(1).max(100).optional(),
};

/** One task as a caller adds it, over HTTP or by `board_plan`. */
export const NewTask = z.strictObject({ key: NewTaskKey.optional(), ...taskFields });
export type NewTask = z.infer<typeof NewTask>;

/** New values of a task's fields but its key; absent ones stay, null takes a value away. */
export const TaskChanges = NewTask.omit({ key: true }).partial().extend({
  parent: taskFields.parent.nullable(),
  replaces: taskFields.replaces.nullable(),
  model: taskFields.model.nullable(),
  instructions: taskFields.instructions.nullable(),
  outputSchema: taskFields.outputSchema.nullable(),
  limits: taskFields.limits.nullable(),
});
export type TaskChanges = z.infer<typeof TaskChanges>;
