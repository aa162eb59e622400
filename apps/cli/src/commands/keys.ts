import {
  type ApiKey,
  CrewboardError,
  KeyId,
  KeyName,
  KeyProject,
  ROLES,
  type Role,
} from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { duration, safeJson, safeLine, table } from '../text.ts';
import { parsedBy } from './arguments.ts';
import { withExamples } from './help.ts';

interface AddOptions extends ServerFlags {
  name: string;
  role: Role;
  project: string;
  json?: true;
}

type OutputOptions = ServerFlags & { json?: true };

const scopeOf = ({ role, project }: Pick<ApiKey, 'role' | 'project'>) =>
  `${role} ${project === '*' ? 'of all projects' : `of project ${project}`}`;

/** The key alone goes to standard output, so that a script can catch it. */
async function add(options: AddOptions, { terminal, config }: Context): Promise<void> {
  const { name, role, project, json } = options;
  const created = await withServer(config(), options, (client) =>
    client.keys.create({ name, role, project }),
  );
  if (created.key === undefined) {
    throw new CrewboardError(
      'unavailable',
      `${created.id} is made, but the answer with the key was lost on its way: crewboard keys revoke ${created.id}, then add another`,
    );
  }
  await terminal.data(`${json ? safeJson(created) : created.key}\n`);
  if (json) return;
  terminal.message(`${created.id} (${scopeOf(created)}) is made. The key is shown this once: keep it safe.`);
  terminal.message(`Take it away with: crewboard keys revoke ${created.id}`);
}

const ago = (time: string | undefined) =>
  time === undefined ? '-' : `${duration(Date.now() - Date.parse(time))} ago`;

async function ls(options: OutputOptions, { terminal, config }: Context): Promise<void> {
  const keys = await withServer(config(), options, async (client) => {
    const found: ApiKey[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await client.keys.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...page.keys);
      cursor = page.nextCursor;
      if (cursor === undefined) return found;
    }
  });
  if (options.json) return terminal.data(`${safeJson({ keys })}\n`);
  const rows = keys.map(({ id, name, role, project, createdAt, lastUsedAt }) => [
    id,
    role,
    project,
    ago(createdAt),
    ago(lastUsedAt),
    safeLine(name, 64),
  ]);
  await terminal.data(`${table([['KEY', 'ROLE', 'PROJECT', 'CREATED', 'USED', 'NAME'], ...rows])}\n`);
}

async function revoke(keyId: string, options: OutputOptions, { terminal, config }: Context): Promise<void> {
  await withServer(config(), options, (client) => client.keys.revoke(keyId));
  if (options.json) return terminal.data(`${safeJson({ id: keyId, revoked: true })}\n`);
  terminal.message(`${keyId} is revoked: nothing takes it any more.`);
}

function addAdd(keys: Command, context: Context): void {
  const command = withServerFlags(
    keys
      .command('add')
      .description('Make a key and print it, this once')
      .requiredOption('--name <name>', 'what events call whoever uses it', parsedBy(KeyName))
      .addOption(new Option('--role <role>', 'what it may do').choices([...ROLES]).makeOptionMandatory())
      .requiredOption('--project <project>', 'the project that it sees; "*" for all', parsedBy(KeyProject))
      .option('--json', 'print the key with its ID as JSON'),
  ).action((options: AddOptions) => add(options, context));
  withExamples(command, [
    'crewboard keys add --name "nightly build" --role submit --project default',
    'KEY=$(crewboard keys add --name dashboard --role read --project website)',
    "crewboard keys add --name ann --role admin --project '*' --json",
  ]);
}

/** `crewboard keys`: make, list and revoke the keys of a server. */
export function addKeys(program: Command, context: Context): void {
  const keys = program
    .command('keys')
    .description('Make, list and revoke API keys; needs an admin key of all projects');
  withExamples(keys, [
    'crewboard keys add --name "nightly build" --role submit --project default',
    'crewboard keys ls',
    'crewboard keys revoke key_4kx9m2ab7ycd',
  ]);
  addAdd(keys, context);
  const list = withServerFlags(
    keys
      .command('ls')
      .description('List the keys; none is shown itself')
      .option('--json', 'print the list as JSON'),
  ).action((options: OutputOptions) => ls(options, context));
  withExamples(list, ['crewboard keys ls', "crewboard keys ls --json | jq -r '.keys[].id'"]);
  const revoking = withServerFlags(
    keys
      .command('revoke')
      .description('Revoke a key: it ends at once, with the logins made by it')
      .argument('<key>', 'the ID of the key', parsedBy(KeyId))
      .option('--json', 'print what was revoked as JSON'),
  ).action((keyId: string, options: OutputOptions) => revoke(keyId, options, context));
  withExamples(revoking, ['crewboard keys revoke key_4kx9m2ab7ycd']);
}
