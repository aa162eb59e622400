import { Problem } from '@crewboard/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { holderRoutes } from '../../apps/api/src/routes/holders.ts';
import { jobControlRoutes } from '../../apps/api/src/routes/job-controls.ts';
import { jobRoutes } from '../../apps/api/src/routes/jobs.ts';
import { personRoutes } from '../../apps/api/src/routes/persons.ts';
import { steerRoutes } from '../../apps/api/src/routes/steer.ts';
import { taskRoutes } from '../../apps/api/src/routes/tasks.ts';
import { wrongInputs } from '../support/wrong-input.ts';
import { fakeService } from './fake-service.ts';
import { AS_ADMIN, openApp } from './open-app.ts';
import { JOB_ID } from './records.ts';

const { service } = fakeService();
const routes = [
  ...jobRoutes(service),
  ...jobControlRoutes(service),
  ...taskRoutes(service),
  ...holderRoutes(service),
  ...personRoutes(service),
  ...steerRoutes(service),
].filter(({ example }) => example !== undefined);

async function refusalsOf(method: string, path: string, schema: z.ZodType) {
  await using app = await openApp();
  const url = app.url + path.replace(':id', JOB_ID).replace(':taskId', 't_4kx9m2ab');
  const bodies = fc.sample(wrongInputs(schema), { numRuns: 60, seed: 7 });
  const answers: z.infer<typeof Problem>[] = [];
  for (const body of bodies.filter((each) => !schema.safeParse(each).success)) {
    const headers = { ...AS_ADMIN, 'content-type': 'application/json' };
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
    if (answer.status === 400) answers.push(Problem.parse(await answer.json()));
  }
  return answers;
}

it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'a refused body is answered with an example that the route takes, or with none: %s',
  async (_, route) => {
    const { method, path, example } = route;
    const { body } = route.schemas;
    expect(body.safeParse(example).success).toBe(true);
    const refusals = await refusalsOf(method, path, body);
    expect(refusals.length).toBeGreaterThan(10);
    for (const refusal of refusals) {
      if (refusal.example !== undefined)
        expect(body.safeParse(refusal.example).success, JSON.stringify(refusal)).toBe(true);
    }
  },
);
