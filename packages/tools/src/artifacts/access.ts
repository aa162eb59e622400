import type { Readable } from 'node:stream';
import type { Artifact } from '@crewboard/contracts';

/** The artifacts that one agent may read and write; the tools know neither board nor store. */
export interface ArtifactAccess {
  /** What the agent may read under a ref, or under a path that shows. Errors: `not_found`. */
  find(name: string): Promise<Artifact>;
  /** Opens its content; the caller reads it to its end or destroys it. */
  open(artifact: Artifact): Promise<Readable>;
  /** Stores a file as the agent's own. Repeated under one request ID it is the same artifact. */
  write(
    file: { path: string; content: Uint8Array },
    call: { requestId: string; signal: AbortSignal },
  ): Promise<Artifact>;
}
