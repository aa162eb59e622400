import { z } from 'zod';
import { EventId, TaskId } from './ids.ts';
import { boundedText } from './text.ts';

/** Names one stored file or value for ever: what was read under a ref stays. */
export const ArtifactRef = z
  .string()
  .regex(/^a_[0-9a-f]{20}$/, 'must be an artifact ref such as "a_0f3c9d21b7e4a8566b1d"');
export type ArtifactRef = z.infer<typeof ArtifactRef>;

/** A file of an attempt at most, and the whole of a tool's output that is kept. */
export const ARTIFACT_BYTES_MOST = 64 * 1024 * 1024;

/** Line breaks and other control characters, and the marks that reorder or hide text on screen. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

function isPlainPath(path: string): boolean {
  if (path.includes('\\') || UNSAFE.test(path) || ArtifactRef.safeParse(path).success) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** The path under which an artifact shows, such as `reports/summary.md`: relative, parts between slashes. */
export const ArtifactPath = boundedText(512).refine(
  isPlainPath,
  'must be a relative path such as "reports/summary.md": no "." or ".." parts, backslashes or control characters',
);

/** A stored file as every reader sees it (DESIGN section 18). */
export const Artifact = z.strictObject({
  ref: ArtifactRef,
  path: z.string(),
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  contentType: z.string(),
  taskId: TaskId.optional(),
  createdAt: z.string(),
});
export type Artifact = z.infer<typeof Artifact>;

/** `GET /v1/jobs/:id/artifacts`: what shows under a path now, in the order in which it came to. */
export const ArtifactList = z.strictObject({
  artifacts: z.array(Artifact),
  nextCursor: z.string().optional(),
  asOf: EventId.optional(),
});
export type ArtifactList = z.infer<typeof ArtifactList>;

export const ArtifactListQuery = z.strictObject({
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
});
export type ArtifactListQuery = z.infer<typeof ArtifactListQuery>;

/** What stands for an output or input that is too large to be on the board. */
const ArtifactOutput = z.strictObject({ ref: ArtifactRef });

/** The ref in an output or input that is `{ref}` and nothing else; undefined for any other value. */
export function artifactRefIn(value: unknown): ArtifactRef | undefined {
  const parsed = ArtifactOutput.safeParse(value);
  return parsed.success ? parsed.data.ref : undefined;
}
