import { describe, expect, it } from 'vitest';
import { pageFacts } from '../../packages/simulated-model/src/markdown-facts.ts';

const facts = (...lines: string[]) => pageFacts('docs/a.md', lines.join('\n'));

describe('pageFacts', () => {
  it('reports a page as a whole', () => {
    const page = facts(
      '# Guide ##',
      '',
      'See [the API](https://x.test/api "API") and <https://x.test>.',
      '',
      '```sh',
      '# not a heading, [not](a-link)',
      '```',
      '## Next',
    );
    expect(page).toEqual({
      file: 'docs/a.md',
      title: 'Guide',
      words: 18,
      headings: 2,
      links: 2,
      codeBlocks: 1,
    });
  });

  it('takes the file name as title when there is no heading, or an empty first one', () => {
    expect(facts('plain').title).toBe('a.md');
    expect(facts('#', '## Later').title).toBe('a.md');
    expect(pageFacts('a.md', '')).toMatchObject({
      title: 'a.md',
      words: 0,
      headings: 0,
      links: 0,
      codeBlocks: 0,
    });
  });

  it('reads the first heading behind a byte order mark and with CRLF', () => {
    expect(pageFacts('a.md', '\ufeff# One\r\n# Two\r\n')).toMatchObject({ title: 'One', headings: 2 });
  });

  const headings: [string, string, number][] = [
    ['all six levels and no seventh', '# a\n###### b\n####### c', 2],
    ['no space after the mark', '#a', 0],
    ['up to three spaces before it', '   # a\n    # b', 1],
    ['a closing sequence that is part of the word', '# C#', 1],
  ];
  it.each(headings)('counts headings: %s', (_, text, count) => {
    expect(facts(text).headings).toBe(count);
  });

  const fences: [string, string, number][] = [
    ['tildes around backticks', '~~~\n```\n~~~\n', 1],
    ['a longer fence around a shorter one', '````\n```\n````\ntext', 1],
    ['one that is never closed', 'a\n```js\n# b', 1],
    ['one in a list item', '- a\n\n  ```js\n  x\n  ```\n- ```\n  y\n  ```', 2],
    ['one in a quote', '> ```\n> x\n> ```', 1],
    ['inline code of three backticks on one line', '``` x ``` y', 0],
  ];
  it.each(fences)('counts code blocks: %s', (_, text, count) => {
    expect(facts(text).codeBlocks).toBe(count);
  });

  const links: [string, string, number][] = [
    ['two on a line', '[a](b) [c](d)', 2],
    ['a title and angle brackets', '[a](<b c> "t")', 1],
    ['brackets in the text', '[a [b] c](d)', 1],
    ['parentheses in the target', '[a](b_(c))', 1],
    ['an image is none', '![a](b.png)', 0],
    ['a linked image is one', '[![a](b.png)](c)', 1],
    ['references with a definition', '[a][x], [X][] and [x]\n\n[x]: https://x.test', 3],
    ['a reference without a definition', '[a][x] and [ ] task', 0],
    ['inside a code span', '`[a](b)` and ``[c](d) ` ``', 0],
    ['an escaped bracket', '\\[a](b)', 0],
    ['a link inside brackets', '[see [a](b)]', 1],
    ['brackets before text in parentheses', '[a](b c d)', 0],
    ['autolinks of URL and mail', '<https://x.test/a> <me@x.test> <b>', 2],
  ];
  it.each(links)('counts links: %s', (_, text, count) => {
    expect(facts(text).links).toBe(count);
  });

  it('takes hostile input in linear time', () => {
    const hostile = [
      '['.repeat(200_000),
      '[a](b "'.repeat(40_000),
      `# ${'#'.repeat(200_000)}x`,
      '`a``'.repeat(50_000),
    ];
    const startedMs = performance.now();
    for (const text of hostile) pageFacts('a.md', text);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });
});
