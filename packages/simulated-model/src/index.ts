export {
  type LoopbackServer,
  MAX_BODY_BYTES,
  readBody,
  sendJson,
  serveLoopback,
} from './loopback-server.ts';
export { encodeEvent, type StreamEvent, streamEvents } from './message-stream.ts';
export { respond } from './respond.ts';
export { type SimulatedModelOptions, startSimulatedModel } from './server.ts';
export {
  errorJson,
  MessagesRequest,
  messageJson,
  type ReplyMessage,
  WireMessage,
  type WireUsage,
} from './wire.ts';
