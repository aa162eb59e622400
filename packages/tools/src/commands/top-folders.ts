import { shownName } from '../text.ts';

/** Counts what is found below a folder by its direct sub-folders, so that a refusal can say where to look. */
export class TopFolders {
  private readonly counts = new Map<string, number>();
  private readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Counts `count` things in `folder`, the root itself or below it. */
  add(folder: Buffer, count: number): void {
    const [top = ''] = folder
      .toString('utf8')
      .slice(this.root.length + 1)
      .split('/', 1);
    this.counts.set(top, (this.counts.get(top) ?? 0) + count);
  }

  /** The path of the one with the most, fit for a line: the root itself for what lies in none of them. */
  most(): string {
    let most: [string, number] = ['', 0];
    for (const entry of this.counts) if (entry[1] > most[1]) most = entry;
    return shownName(most[0] === '' ? this.root : `${this.root}/${most[0]}`);
  }
}
