import { type Artifact, ArtifactList, ArtifactListQuery, JobId } from '@crewboard/contracts';
import type { OpenArtifact, Service } from '@crewboard/orchestrator';
import { z } from 'zod';
import { parseRange } from '../byte-range.ts';
import { type Answer, BARE, guardedRoute, json, type Route } from '../route.ts';
import { JobPath } from './shapes.ts';

/** What stands behind `artifacts/`, its percent signs resolved once by the router: a name, never a place on disk. */
const ArtifactFile = z.strictObject({ id: JobId, '*': z.string().min(1).max(2048) });

const FileHeaders = z.object({
  range: z.string().optional(),
  'if-range': z.string().optional(),
  'if-none-match': z.string().optional(),
});

/** The name to save it under: the path's last part, and in ASCII for those that know no more. */
function disposition({ path }: Artifact): string {
  const name = path.split('/').at(-1) ?? path;
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function headersOf(artifact: Artifact) {
  return {
    'Content-Type': artifact.contentType,
    'Content-Disposition': disposition(artifact),
    'Accept-Ranges': 'bytes',
    ETag: `"${artifact.sha256}"`,
  };
}

/** Whether `If-None-Match` names the file: the caller has it. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}

/** A file as the request wants it: whole, a part, or not at all where the caller has it. */
function fileAnswer(
  { artifact, read }: OpenArtifact,
  asked: z.infer<typeof FileHeaders>,
): Extract<Answer, { kind: 'bytes' }> {
  const headers = headersOf(artifact);
  const { bytes: size } = artifact;
  if (isKnown(asked['if-none-match'], headers.ETag)) {
    return { kind: 'bytes', status: 304, headers: { ETag: headers.ETag } };
  }
  const isCurrent = asked['if-range'] === undefined || asked['if-range'] === headers.ETag;
  const range = isCurrent ? parseRange(asked.range, size) : undefined;
  if (range === undefined) {
    return {
      kind: 'bytes',
      status: 200,
      headers: { ...headers, 'Content-Length': String(size) },
      open: () => read(),
    };
  }
  if (range === 'unsatisfiable') {
    return {
      kind: 'bytes',
      status: 416,
      headers: { 'Content-Range': `bytes */${size}`, 'Content-Length': '0' },
    };
  }
  const last = range.offset + range.bytes - 1;
  const partial = {
    'Content-Range': `bytes ${range.offset}-${last}/${size}`,
    'Content-Length': String(range.bytes),
  };
  return { kind: 'bytes', status: 206, headers: { ...headers, ...partial }, open: () => read(range) };
}

/** Returns the routes of artifacts: the list, and each by its path or ref. */
export function artifactRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'listArtifacts',
      path: '/v1/jobs/:id/artifacts',
      summary: 'List the files of a job',
      access: 'read',
      params: JobPath,
      query: ArtifactListQuery,
      answer: ArtifactList,
      handler: async ({ params, query }, caller) =>
        json(await service.listArtifacts(caller, params.id, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'downloadArtifact',
      path: '/v1/jobs/:id/artifacts/*',
      summary: 'Download a file of a job by its path or ref, whole or in part',
      access: 'read',
      params: ArtifactFile,
      headers: FileHeaders,
      answer: z.unknown(),
      notJson: true,
      otherStatuses: [206, 304, 416],
      handler: async ({ params, headers }, caller) =>
        fileAnswer(await service.findArtifact(caller, params.id, params['*']), headers),
    }),
  ];
}
