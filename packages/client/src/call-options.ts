/** What every call takes. */
export interface CallOptions {
  signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  /** The same key and body again is the same request: at most one job or batch comes of it. */
  idempotencyKey?: string;
}

export interface Page {
  cursor?: string;
  limit?: number;
}
