import { CrewboardError, type Tool } from '@crewboard/contracts';
import { createLoopGuard } from './loop-guard.ts';

/**
 * The same tools, but the same refusal again and again is told to the model as what it is; `onLoop` hears of each
 * such turn of the loop. One guard an attempt: what another agent did is not this one's loop.
 */
export function guardedTools(
  tools: readonly Tool[],
  hold: { jobId: string; taskId: string },
  onLoop: (tool: string, error: CrewboardError) => Promise<void>,
): Tool[] {
  const guard = createLoopGuard();
  return tools.map((tool) => ({
    ...tool,
    async execute(input, context) {
      try {
        const answer = await tool.execute(input, context);
        if (!answer.isError) guard.succeeded(hold.jobId, hold.taskId);
        return answer;
      } catch (error) {
        if (!(error instanceof CrewboardError)) throw error;
        const told = guard.failed(hold.jobId, hold.taskId, error);
        if (told !== error) await onLoop(tool.name, told);
        throw told;
      }
    },
  }));
}
