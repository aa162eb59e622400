/** `1, "link"` -> "1 link"; `2, "link"` -> "2 links". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
