import type { Readable } from 'node:stream';

/** What a put has stored. */
export interface StoredContent {
  /** Hex, the content's name in the store. */
  sha256: string;
  bytes: number;
}

/** A part of a content. */
export interface ByteRange {
  offset: number;
  bytes: number;
}

/** When a content may be thrown away. */
export interface DiscardRule {
  /** Put, or put again, at least this long ago. */
  olderThanMs: number;
  /** Asked once nobody can find the content any more; true brings it back. */
  isWanted: () => Promise<boolean>;
}

/**
 * Where the contents of artifacts lie, by job and by hash. It knows nothing of boards: what a content is called, who
 * may read it and whether anybody still wants it are others' business. Another kind of store, such as an S3 bucket,
 * keeps the same promises.
 */
export interface ArtifactStore {
  /**
   * Stores a content whole and durably before it resolves, once however often it comes. Throws `payload_too_large`
   * above the store's bound, and the signal's reason; nothing stays behind then.
   */
  put(
    jobId: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<StoredContent>;
  /** True while a content of this hash and size is there. */
  has(jobId: string, content: StoredContent): Promise<boolean>;
  /** Opens a content, or a part that lies in it. The caller reads it to its end or destroys it. Errors: `not_found`. */
  read(jobId: string, sha256: string, range?: ByteRange): Promise<Readable>;

  /** The jobs that have something in the store. */
  jobs(): AsyncIterable<string>;
  /** The hashes of a job's contents, and how long ago each was put. */
  contents(jobId: string): AsyncIterable<{ sha256: string; ageMs: number }>;
  /** Throws a content away if the rule lets it; true when it did. Two may do so at once, and beside a put. */
  discard(jobId: string, sha256: string, rule: DiscardRule): Promise<boolean>;
  /** Removes what interrupted calls left behind at least so long ago. */
  removeLeftovers(jobId: string, olderThanMs: number): Promise<void>;
  /** Removes everything of a job, for good. Harmless when there is nothing (any more). */
  removeJob(jobId: string): Promise<void>;
}
