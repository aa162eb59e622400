/** The text of whatever was thrown, which may be anything, even what can't be turned into text. Never throws. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'a value that can not be shown as text';
  }
}
