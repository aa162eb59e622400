/** What every call takes. */
export interface CallOptions {
  /** Aborts the call, which then rejects with its reason. */
  signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * The same key and body again is the same request: at most one job or batch comes of it. By default each call makes
   * one, under which it repeats itself; give your own to repeat it after a restart of your program.
   */
  idempotencyKey?: string | undefined;
}

export interface Page {
  cursor?: string | undefined;
  limit?: number | undefined;
}
