/** Groups of operations, in the order in which they are shown. */
export const TAGS = [
  { name: 'Jobs', description: 'Submit, read, steer and end jobs' },
  { name: 'Tasks', description: "A job's board: list, add, change, decide" },
  {
    name: 'Claims',
    description: 'Working on tasks from outside: claim, and what the holder of a claim may do',
  },
  { name: 'Events', description: 'What happens, live and afterwards' },
  { name: 'Results', description: 'Results and files, at any time' },
  { name: 'Keys', description: 'API keys' },
  { name: 'Server', description: 'Health, metrics, this document' },
] as const;

const OF_HOLDERS = /\/tasks\/(?:claim|:taskId\/(?:heartbeat|note|submit|block|fail|release))$/;

/** Returns the group of a route by its path. */
export function tagOf(path: string): (typeof TAGS)[number]['name'] {
  if (path.startsWith('/v1/keys')) return 'Keys';
  if (!path.startsWith('/v1/')) return 'Server';
  if (OF_HOLDERS.test(path)) return 'Claims';
  if (/\/(?:events|transcript)$/.test(path)) return 'Events';
  if (/\/(?:result|results\.jsonl|artifacts(?:\/\*)?)$/.test(path)) return 'Results';
  return path.includes('/tasks') ? 'Tasks' : 'Jobs';
}
