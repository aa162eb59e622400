export type { ArtifactCalls, DownloadOptions } from './artifacts.ts';
export type { CallOptions, Page, WriteOptions } from './call-options.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export type { FollowOptions, Reconnect } from './follow.ts';
export type { KeyCalls } from './keys.ts';
export type { SteerCalls } from './steer.ts';
export type { TaskCalls } from './tasks.ts';
