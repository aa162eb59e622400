export { runWorker } from './main.ts';
export { startWorker, type WorkerConnections } from './worker.ts';
