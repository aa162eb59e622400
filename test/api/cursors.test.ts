import { newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { createBoardListTool } from '../../packages/orchestrator/src/board-tools.ts';
import { openRealApp } from './open-real-app.ts';

/** A job with three tasks, the first of which was claimed and given back twice and has a conversation of two entries. */
async function open() {
  const app = await openRealApp();
  const { boards } = app.board;
  const { jobId, ids } = await app.board.job(['a', 'b', 'c'].map((key) => ({ key, title: key })));
  const a = ids.a ?? '';
  for (const attempt of [1, 2]) {
    const { hold } = await app.board.claim(jobId, a);
    const journal = await boards.openJournal(hold, { attempt });
    await journal.append({ kind: 'message', texts: [`message ${attempt}`] });
    await boards.release(hold, newSecret(), 'not now');
  }
  const path = `/${jobId}/tasks`;
  return {
    app,
    jobId,
    lists: { t: path, a: `${path}/${a}/attempts`, e: `${path}/${a}/transcript` },
    files: `/${jobId}/artifacts`,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

it('each numbered list goes on after its own cursor, which says what list it is of', async () => {
  await using at = await open();
  for (const [sign, list] of Object.entries(at.lists)) {
    const first = await at.app.send('GET', `${list}?limit=1`);
    expect(first).toMatchObject({ status: 200, body: { nextCursor: `${sign}1` } });
    const next = await at.app.send('GET', `${list}?limit=1&cursor=${sign}1`);
    expect(next.status).toBe(200);
    expect(next.body).not.toEqual(first.body);
    expect(next.body).not.toHaveProperty('nextCursor', `${sign}1`);
  }
});

it('what a list never gave is refused: numbers, zero, cursors of other lists', async () => {
  await using at = await open();
  const signs = Object.keys(at.lists);
  for (const [sign, list] of [...Object.entries(at.lists), ['f', at.files]]) {
    const others = ['t', 'a', 'e', 'f'].filter((other) => other !== sign).map((other) => `${other}1`);
    for (const cursor of [
      '0',
      '1',
      `${sign}0`,
      `${sign}01`,
      `${sign}-1`,
      `${sign}`,
      `${sign}1.5`,
      '',
      ...others,
    ]) {
      expect(await at.app.send('GET', `${list}?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_argument', path: 'cursor', detail: expect.stringContaining(`"${cursor}"`) },
      });
    }
  }
  expect(signs).toHaveLength(3);
});

it('board_list gives and takes the cursors of tasks', async () => {
  await using at = await open();
  const tool = createBoardListTool(at.app.board.boards, at.jobId);
  const context = { signal: new AbortController().signal, toolUseId: 't', requestId: 'r' };
  const { content } = await tool.execute({ limit: 2 }, context);
  expect(JSON.parse(content)).toMatchObject({ nextCursor: 't2' });
  expect(JSON.parse((await tool.execute({ cursor: 't2' }, context)).content)).toMatchObject({
    tasks: [{ number: 3 }],
  });
  for (const cursor of ['2', '0', 'a2'])
    await expect(tool.execute({ cursor }, context)).rejects.toMatchObject({ code: 'invalid_argument' });
});

it('a page has 50 entries unless its limit says otherwise, and a stream of events takes no limit', async () => {
  await using app = await openRealApp();
  const { jobId } = await app.board.job(Array.from({ length: 120 }, (_, i) => ({ title: `Task ${i}` })));
  const json = { accept: 'application/json' };
  for (const name of ['tasks', 'events']) {
    const lengthOf = async (query: string) => {
      const { body } = await app.send('GET', `/${jobId}/${name}${query}`, undefined, json);
      return [body[name]].flat().length;
    };
    expect({ name, entries: await lengthOf('') }).toEqual({ name, entries: 50 });
    expect({ name, entries: await lengthOf('?limit=100') }).toEqual({ name, entries: 100 });
  }
  expect(await app.send('GET', `/${jobId}/events?limit=5`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', detail: expect.stringContaining('"limit" is for the list') },
  });
});
