import { ArtifactList } from '@crewboard/contracts';
import type { CallOptions, Page } from './call-options.ts';
import { jobPath, withQuery } from './requests.ts';
import type { Transport } from './transport.ts';

export interface DownloadOptions extends CallOptions {
  /** The first byte wanted, from 0: to go on with a download that broke off. */
  offset?: number;
}

export interface ArtifactCalls {
  /** A page of the files that show under a path, in the order in which they came to. */
  list(jobId: string, page?: Page, options?: CallOptions): Promise<ArtifactList>;
  /** The bytes of a file by its path or ref, as they come. */
  download(jobId: string, name: string, options?: DownloadOptions): Promise<AsyncIterable<Uint8Array>>;
}

/** The calls on a job's files. */
export function artifactCalls(transport: Transport): ArtifactCalls {
  const listPath = (jobId: string) => `${jobPath(jobId)}/artifacts`;
  return {
    list: (jobId, page = {}, { signal } = {}) =>
      transport.json(ArtifactList, { path: withQuery(listPath(jobId), page), signal }),
    download: (jobId, name, { offset = 0, signal } = {}) =>
      transport.bytes({
        path: `${listPath(jobId)}/${name.split('/').map(encodeURIComponent).join('/')}`,
        headers: { accept: '*/*', ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) },
        signal,
      }),
  };
}
