import { CrewboardError } from '@crewboard/contracts';
import type { FastifyInstance } from 'fastify';

/**
 * Makes JSON the only body that `app` reads. An empty body is an absent one, whatever its content type; one
 * that is not UTF-8 or not JSON, or that carries `__proto__`, is `invalid_argument`.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const refuse = (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      done(new CrewboardError('invalid_argument', `The body is not valid JSON: ${reason}. Nothing changed.`));
    };
    if (body.length === 0) return done(null, undefined);
    try {
      parseJson(request, utf8.decode(body), (error, value) => (error ? refuse(error) : done(null, value)));
    } catch (error) {
      refuse(error);
    }
  });
}
