/** The layers of the design, section 3: who may import whom. */
const layers = {
  'packages/contracts': [],
  'packages/board': ['contracts'],
  'packages/checklist': ['contracts'],
  'packages/client': ['contracts'],
  'packages/agent': ['contracts', 'checklist'],
  'packages/tools': ['contracts', 'checklist'],
  'packages/simulated-model': ['contracts'],
  'packages/orchestrator': ['contracts', 'board', 'checklist', 'agent', 'tools'],
  'apps/api': ['contracts', 'board', 'orchestrator'],
  'apps/worker': ['contracts', 'board', 'agent', 'orchestrator'],
  // `crewboard up` composes api, worker and the simulated model, and makes their folders; everything else in the CLI
  // knows only the client.
  'apps/cli': ['contracts', 'client', 'tools', 'api', 'worker', 'simulated-model'],
};

const places = (name) => `(packages|apps)/${name}/`;

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...Object.entries(layers).map(([from, allowed]) => ({
      name: `layer-${from.split('/')[1]}`,
      severity: 'error',
      from: { path: `^${from}/` },
      to: { path: '^(packages|apps)/', pathNot: [`^${from}/`, ...allowed.map((name) => `^${places(name)}`)] },
    })),
    {
      name: 'agent-knows-no-store',
      severity: 'error',
      from: { path: '^packages/(agent|tools|checklist|client|contracts)/' },
      to: { path: 'node_modules/(ioredis|bullmq)/' },
    },
    {
      // Their tsconfig.json knows no global of Node either.
      name: 'client-runs-in-a-browser',
      severity: 'error',
      from: { path: '^packages/(client|contracts)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'board-knows-no-queue-or-model',
      severity: 'error',
      from: { path: '^packages/board/' },
      to: { path: 'node_modules/(bullmq|@anthropic-ai)/' },
    },
    {
      name: 'only-index-from-outside',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: { path: '^(packages|apps)/[^/]+/src/', pathNot: ['^$1/$2/', 'src/(index|main)\\.ts$'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@crewboard/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
