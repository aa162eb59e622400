import { safeLine } from './text.ts';

const MAX_CHARACTERS = 600;

/** How commander reports a value that one of our parsers refused; our own words come last. */
const REFUSED_VALUE =
  /^error: (?:option '(?<flag>--[\w-]+)[^']*' argument '(?<given>.*)' is invalid|command-argument value '(?<value>.*)' is invalid for argument '(?<name>[\w-]+)')\. (?<must>.*)$/s;

/** Returns commander's message about a wrong command line as one line of ours. */
export function usageLine(message: string): string {
  const refused = REFUSED_VALUE.exec(message)?.groups;
  const what =
    refused === undefined
      ? message.replace(/^error: /, '')
      : `${refused.flag ?? refused.name} ${refused.must?.trim()}, got "${refused.given ?? refused.value}"`;
  // One line, as all our errors: commander puts its suggestion on a second one.
  return `crewboard: ${safeLine(what, MAX_CHARACTERS).replace(/\.$/, '')} (--help shows examples)`;
}
