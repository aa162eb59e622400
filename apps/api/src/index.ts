export { type Access, type Caller, mayUse } from './access.ts';
export { type AppDependencies, buildApp, routeTable } from './app.ts';
export { type Authenticate, authenticateByKeys, type KnownKey } from './auth.ts';
export { readConfig } from './config.ts';
export { createLogger } from './logger.ts';
export { composeApi, runApi } from './main.ts';
export type { Answer, Route } from './route.ts';
export { type ApiParts, type RunningApi, type StartOptions, startApi } from './start-api.ts';
