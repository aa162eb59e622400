import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What of the file the promises of docs/operations.md rest on. */
const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      command: z.array(z.string()),
      volumes: z.array(z.string()),
      container_name: z.string().optional(),
      ports: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()).optional(),
      healthcheck: z.object({ test: z.array(z.string()) }).optional(),
    }),
  ),
});

const text = await readFile(root('docker-compose.yml'), 'utf8');
const document: unknown = parse(text, { merge: true });
const { services } = Compose.parse(document);

/** The specification's own schema, without the `id`s of an older draft. */
async function readSchema(): Promise<Record<string, unknown>> {
  const schema = await readFile(root('test/fixtures/compose-spec.json'), 'utf8');
  return JSON.parse(schema, (key, value) => (key === 'id' && typeof value === 'string' ? undefined : value));
}

describe('docker-compose.yml', () => {
  it('is valid by the Compose specification', async () => {
    const { $schema, ...schema } = await readSchema();
    const { 'x-crewboard': _, ...compose } = z.record(z.string(), z.unknown()).parse(document);
    const ajv = new Ajv({ strict: false, logger: false, validateFormats: false });
    expect(ajv.validate(schema, compose), ajv.errorsText()).toBe(true);
    expect(ajv.validate(schema, { ...compose, services: { api: { comand: ['api'] } } })).toBe(false);
  });

  it('keeps what Redis and the artifacts hold in volumes, and lets Redis evict nothing', () => {
    expect(services.redis?.volumes).toContain('redis:/data');
    expect(services.redis?.command.join(' ')).toMatch(/--appendonly yes .*--maxmemory-policy noeviction/);
    for (const name of ['api', 'worker']) expect(services[name]?.volumes).toContain('data:/data');
  });

  it('scales workers, and shows the API on loopback only', () => {
    expect(services.worker).toMatchObject({ command: ['worker'] });
    expect(services.worker?.ports).toBeUndefined();
    expect(services.worker?.container_name).toBeUndefined();
    expect(services.api?.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('asks each service for its own health', () => {
    const worker = services.worker?.healthcheck?.test;
    expect(worker).toEqual(['CMD', 'node', 'apps/cli/dist/main.js', 'worker', '--check']);
    expect(services.api?.healthcheck?.test.join(' ')).toContain('/readyz');
  });

  it('does not start without a key', () => {
    expect(services.api?.environment?.CREWBOARD_API_KEY).toMatch(/^\$\{CREWBOARD_API_KEY:\?/);
  });
});
