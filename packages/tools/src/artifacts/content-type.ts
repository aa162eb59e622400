import mime from 'mime';

/** The content type of a file by its name; of a name that tells nothing, plain bytes. */
export function contentTypeOf(path: string): string {
  return mime.getType(path) ?? 'application/octet-stream';
}
