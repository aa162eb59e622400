export type { DoctorRun } from './doctor.ts';
export { checkWorker, runDoctor, runWorker } from './main.ts';
export { startWorker, type WorkerConnections } from './worker.ts';
