import { parseEnvironment } from '@crewboard/contracts';
import { createEventHub, createService, settingsFrom } from '@crewboard/orchestrator';
import type { ArtifactStore } from '@crewboard/tools';
import type { BoardFixture } from '../support/board.ts';
import { openRetentionRig, type RetentionRig } from '../support/retention.ts';
import { ADMIN_KEY, bearer, type OpenApp, openApp } from './open-app.ts';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** The application over the real service and Redis; nothing sweeps or drains behind the test's back. */
export interface RealApp extends AsyncDisposable {
  board: BoardFixture;
  /** What takes its jobs out of Redis, by the test's own hand. */
  rig: RetentionRig;
  url: string;
  artifacts: ArtifactStore;
  raw: OpenApp['raw'];
  /** Sends one request with the admin key below `/v1/jobs`. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The same with a body that is sent as it stands. */
  sendText(method: string, path: string, body: string): Promise<Answer>;
  /** Reads an answer that is no JSON. */
  readText(path: string): Promise<string>;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function sendTo(
  { url }: OpenApp,
  method: string,
  path: string,
  body: string | undefined,
  headers: object,
) {
  const answer = await fetch(`${url}/v1/jobs${path}`, {
    method,
    headers: {
      ...bearer(ADMIN_KEY),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const json: unknown = await answer.json();
  if (!isRecord(json)) throw new Error(`no object: ${JSON.stringify(json)}`);
  return { status: answer.status, body: json };
}

/** Opens it below a prefix of its own; `variables` are the server's environment, `options` the application's. */
export async function openRealApp(
  variables: Record<string, string> = {},
  options: Parameters<typeof openApp>[0] = {},
): Promise<RealApp> {
  const rig = await openRetentionRig();
  const { board, artifacts, boards, deleteJob } = rig;
  const { redis, prefix } = board.store;
  const settings = settingsFrom(parseEnvironment({ ...variables, CREWBOARD_PREFIX: prefix }), process.cwd());
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const hub = createEventHub(redis.duplicate(), boards, silent);
  const service = createService({ boards, redis, hub, settings, artifacts, deleteJob });
  const app = await openApp({ ...options, service });
  return {
    board,
    rig,
    url: app.url,
    artifacts,
    raw: app.raw,
    send: (method, path, body, headers = {}) => sendTo(app, method, path, JSON.stringify(body), headers),
    readText: async (path) =>
      (await fetch(`${app.url}/v1/jobs${path}`, { headers: bearer(ADMIN_KEY) })).text(),
    sendText: (method, path, body) => sendTo(app, method, path, body, {}),
    async [Symbol.asyncDispose]() {
      await app.close();
      hub.close();
      await rig[Symbol.asyncDispose]();
    },
  };
}
