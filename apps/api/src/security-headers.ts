import type { FastifyReply } from 'fastify';

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Not "no-referrer": a browser would then send "Origin: null" with a form of our own.
  'Referrer-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Sets the headers that every answer carries; a page that needs more than nothing overrides the policy. */
export function setSecurityHeaders(reply: FastifyReply): void {
  void reply.headers(HEADERS);
}
