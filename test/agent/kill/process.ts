import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startArguments } from '../../support/programs.ts';
import { startScriptedApi } from '../../support/scripted-messages-api.ts';
import { byConversation, REPLIES } from './story.ts';

/** Runs the story's process to its end, or to its death. */
function runProgram(args: readonly string[]): Promise<{ signal: string | undefined; output: string }> {
  const node = [...startArguments('story'), ...args];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, node, { timeout: 60_000 }, (error, output, errors) => {
      const signal = error?.signal ?? undefined;
      if (error !== null && signal !== 'SIGKILL') reject(new Error(errors));
      else resolve({ signal, output });
    });
  });
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').slice(0, -1);
}

/** Kills the story's process with -9 at the boundary, lets another one go on, and checks what came of it. */
export async function killAndGoOn(killAt: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-kill-'));
  await using api = await startScriptedApi(byConversation);
  try {
    const where = `killed at ${killAt}`;
    const first = await runProgram([folder, api.url, '1', String(killAt)]);
    assert.equal(first.signal, 'SIGKILL', where);
    const before = (await linesOf(join(folder, 'journal'))).map((line) => JSON.parse(line));
    const replies = before.filter(({ kind }) => kind === 'reply').length;
    const asked = api.requests.length;

    const second = await runProgram([folder, api.url, '2']);
    const { kind, crossed } = JSON.parse(second.output);
    assert.equal(kind, 'done', where);
    assert.equal(api.requests.length - asked, REPLIES.length - replies, where);
    const finished = before.filter((entry) => entry.kind === 'tool.result');
    const again = finished.filter(({ toolUseId }) => crossed.includes(`start of ${toolUseId}`));
    assert.deepEqual(again, [], where);
    const effects = await linesOf(join(folder, 'effects'));
    assert.equal(new Set(effects).size, effects.length, where);
    assert.equal(effects.at(-1), 'submitted {"summary":"the result"}', where);
    assert.deepEqual(api.violations, [], where);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How many boundaries the whole story crosses in a process that nobody kills. */
export async function countInProcess(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-kill-'));
  await using api = await startScriptedApi(byConversation);
  try {
    return JSON.parse((await runProgram([folder, api.url, '1'])).output).crossed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
