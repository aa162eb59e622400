import { invalidArgument, type Tool, ToolAnswer } from '@crewboard/contracts';
import { thrownText } from './thrown-text.ts';

/** What a model is told of a call whose effect nobody knows. */
export function doubtOf(tool: Tool): string {
  return tool.readOnly ? '' : ' Check what it did before you repeat it.';
}

const UNDECLARED_END = 'its answer ends the attempt, and the tool is not declared with endsAttempt: true';

/** The answer, or what is wrong with it. */
function parse(tool: Tool, answered: unknown): { answer: ToolAnswer } | { wrong: string } {
  const parsed = ToolAnswer.safeParse(answered);
  if (!parsed.success) return { wrong: invalidArgument('its answer', parsed.error, answered).detail };
  const mayEnd = parsed.data.end === undefined || tool.endsAttempt === true;
  return mayEnd ? { answer: parsed.data } : { wrong: UNDECLARED_END };
}

function parseSafely(tool: Tool, answered: unknown): ReturnType<typeof parse> {
  try {
    return parse(tool, answered);
  } catch (error) {
    // Reading a value may run code of the tool's, such as a getter.
    return { wrong: `its answer can't be read: ${thrownText(error)}` };
  }
}

/**
 * Reads what a tool answered. Types do not hold at run time: what is no answer, or ends the attempt though the tool was
 * not declared to, becomes an error result that says so. The tool has run by then, so its effect is in doubt.
 */
export function readAnswer(tool: Tool, answered: unknown): ToolAnswer {
  const parsed = parseSafely(tool, answered);
  if ('answer' in parsed) return parsed.answer;
  const content = `${tool.name} ran, but ${parsed.wrong}.${doubtOf(tool)}`;
  return { content, isError: true };
}
