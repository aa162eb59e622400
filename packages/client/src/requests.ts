import { newSecret } from '@crewboard/contracts';
import type { WriteOptions } from './call-options.ts';

/** `path` with `query`; a list stands for the same name again and again, what is undefined is left out. */
export function withQuery(path: string, query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) search.append(name, String(one));
    }
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Where a job is found. */
export function jobPath(jobId: string): string {
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}

/** Headers of a call that changes something once, however often it is sent; the key is made unless there is one. */
export function writeHeaders({ idempotencyKey = newSecret() }: WriteOptions): Record<string, string> {
  return { 'idempotency-key': idempotencyKey };
}

/** The body of a claim or of a holder's call, with a name of its own: sent twice it happens once. */
export function namedBody<Body extends { requestId?: string | undefined }>(body: Body): Body {
  return { ...body, requestId: body.requestId ?? newSecret() };
}
