import type { Tool, ToolAnswer } from '@crewboard/contracts';
import type { CommandRunner } from '@crewboard/tools';

/**
 * Returns what keeps a process' own secrets out of what tools and commands answer, so that no model, journal or result
 * has them. The sandbox and the closed paths are what keeps them from being read at all; this is for where those can't
 * help: a command that runs on the machine itself can read the environment of the process that started it.
 */
export function withoutSecrets(remove: (text: string) => string) {
  function cleaned(answer: ToolAnswer): ToolAnswer {
    const { content, whole } = answer;
    const kept = typeof whole?.content === 'string' ? { ...whole, content: remove(whole.content) } : whole;
    return { ...answer, content: remove(content), ...(kept === undefined ? {} : { whole: kept }) };
  }
  return {
    tools: (tools: readonly Tool[]): Tool[] =>
      tools.map((tool) => ({
        ...tool,
        execute: async (input, context) => cleaned(await tool.execute(input, context)),
      })),
    runner:
      (run: CommandRunner): CommandRunner =>
      async (command, options) => {
        const end = await run(command, options);
        return { ...end, output: remove(end.output) };
      },
  };
}
