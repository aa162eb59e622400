import mime from 'mime';

/** The content type of a file by its name; of a name that tells nothing, plain bytes. */
export function contentTypeOf(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  // A bare word is no ending: `dir` is not a Director film.
  const type = name.includes('.') ? mime.getType(name) : null;
  return type ?? 'application/octet-stream';
}
