export { type Access, type Caller, mayUse } from './access.ts';
export { type ApiMetrics, type AppDependencies, buildApp, routeTable } from './app.ts';
export {
  environmentKeys,
  fixedKeys,
  type KeyRing,
  type KnownCaller,
  type KnownKey,
  keyRings,
  storedKeys,
} from './auth.ts';
export { readConfig } from './config.ts';
export { createLogger } from './logger.ts';
export { nextPath } from './login/next-path.ts';
export { createSessions, type Sessions } from './login/sessions.ts';
export { composeApi, runApi } from './main.ts';
export { openApiDocument } from './openapi/document.ts';
export type { Answer, Route } from './route.ts';
export { type ApiParts, type RunningApi, type StartOptions, startApi } from './start-api.ts';
export { VERSION } from './version.ts';
