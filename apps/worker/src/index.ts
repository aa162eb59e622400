export type { DoctorRun } from './doctor.ts';
export { runDoctor, runWorker } from './main.ts';
export { startWorker, type WorkerConnections } from './worker.ts';
