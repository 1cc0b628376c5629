import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempDir } from '../../../support/temp-dir.ts';
import { NodeWorld } from './node-world.ts';

it('a static pod that the node refuses has a mirror pod that says why', async () => {
  const staticPodPath = await tempDir();
  const containers = [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent' }];
  for (const name of ['one', 'two']) {
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers } };
    await writeFile(path.join(staticPodPath, `${name}.json`), JSON.stringify(manifest));
  }
  await using world = await NodeWorld.make();
  const agent = world.agent({ staticPodPath, maxPods: 1 });
  await world.through(agent.start());
  await world.pass(60_000);
  const statuses = ['one', 'two'].map((name) => world.pod(`${name}-node-1`)?.status);
  expect(statuses.map((status) => status?.phase).toSorted()).toEqual(['Failed', 'Running']);
  // a static pod is critical: others would make room for it, but for those that are critical as well
  const refused = statuses.find((status) => status?.phase === 'Failed');
  expect(refused).toMatchObject({ reason: 'UnexpectedAdmissionError', message: expect.stringContaining('preempt') });
  await world.through(agent.stop());
});
