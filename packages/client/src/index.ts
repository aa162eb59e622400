export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Page,
  type WriteOptions,
} from './client.ts';
export type { FollowOptions, Reconnect } from './follow.ts';
