/** Colours a text that is safe already. */
export type Paint = Record<'bold' | 'dim' | 'red' | 'green' | 'yellow', (text: string) => string>;

/** Returns colours, or with `hasColour` false what leaves texts as they are. */
export function painter(hasColour: boolean): Paint {
  const code = (number: number) => (text: string) =>
    hasColour && text !== '' ? `\u001b[${number}m${text}\u001b[0m` : text;
  return { bold: code(1), dim: code(90), red: code(31), green: code(32), yellow: code(33) };
}
