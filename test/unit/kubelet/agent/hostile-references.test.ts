import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NodeAgentOptions } from '../../../../src/kubelet.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { NodeWorld } from './node-world.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A node with an ordinary pod that has a secret and a config map, and what its agents tell of pods. */
async function setUp() {
  const world = await NodeWorld.make();
  const secrets = world.objects.target('/api/v1/secrets').store;
  const configMaps = world.objects.target('/api/v1/configmaps').store;
  secrets.create({ metadata: { name: 'own', namespace: 'default' }, data: { v: 'b25l' } });
  configMaps.create({ metadata: { name: 'own', namespace: 'default' }, data: { v: 'one' } });
  const events: string[] = [];
  const event: NonNullable<NodeAgentOptions['eventRecorder']>['event'] = (pod, type, reason, message) =>
    void events.push(`${pod.metadata?.name} ${type} ${reason} ${message}`);
  const volumes = [
    { name: 's', secret: { secretName: 'own' } },
    { name: 'c', configMap: { name: 'own' } },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const containers = [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent', volumeMounts }];
  const ordinary = { volumes, containers };
  return { world, configMaps, events, ordinary, agentOf: () => world.agent({ eventRecorder: { event } }) };
}

/** Starts an agent, lets a minute pass, and says what the pods are. */
async function minuteOf({ world, agentOf }: Awaited<ReturnType<typeof setUp>>): Promise<unknown[]> {
  const agent = agentOf();
  await world.through(agent.start());
  await world.pass(60_000);
  const phases = ['evil', 'good'].map((name) => world.pod(name)?.status?.phase);
  await world.through(agent.stop());
  expect(world.timersLeft).toBe(0);
  return phases;
}

describe('a pod that names 5,000 pull secrets', () => {
  it('waits with a reason, has none of them read, and other pods run, also after a restart of the agent', async () => {
    const made = await setUp();
    const { world, events, ordinary } = made;
    await using _ = world;
    world.create('evil', { imagePullSecrets: numbers(5000).map((i) => ({ name: `s${i}` })) });
    world.create('good', ordinary);
    for (const _run of [1, 2]) {
      world.requests.length = 0;
      events.length = 0;
      expect(await minuteOf(made)).toEqual(['Pending', 'Running']);
      expect(world.requests.filter((request) => request.includes('/secrets')).length).toBeLessThan(5);
      const [told] = events.filter((text) => text.startsWith('evil'));
      expect(told).toMatch(
        /^evil Warning FailedMount pod default\/evil names 5000 secrets and config maps, and this node holds 256/,
      );
      expect(events.filter((text) => text.startsWith('good Warning Failed'))).toEqual([]);
    }
  });
});

describe('a pod with 140 config maps of 1 MB', () => {
  it('waits with a reason, and other pods run, also after a restart of the agent', async () => {
    const made = await setUp();
    const { world, configMaps, events, ordinary } = made;
    await using _ = world;
    const v = 'x'.repeat(1_000_000);
    for (const i of numbers(140)) configMaps.create({ metadata: { name: `c${i}`, namespace: 'default' }, data: { v } });
    const volumes = numbers(140).map((i) => ({ name: `v${i}`, configMap: { name: `c${i}` } }));
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    world.create('evil', { volumes, containers: [{ name: 'app', image: 'app:1', volumeMounts }] });
    world.create('good', ordinary);
    for (const _run of [1, 2]) {
      events.length = 0;
      expect(await minuteOf(made)).toEqual(['Pending', 'Running']);
      const told = events.filter((text) => text.startsWith('evil Warning FailedMount'));
      expect(told.some((text) => text.includes('of pod default/evil take more than the 16777216 bytes'))).toBe(true);
      // of 124 volumes that are not ready, ten have an event of their own at a time
      expect(told.some((text) => /\d+ more volumes are not ready$/.test(text))).toBe(true);
      expect(events.filter((text) => text.startsWith('good Warning Failed'))).toEqual([]);
    }
  });
});

describe('a pod that takes more memory than the agent has for it', () => {
  it('is refused for good with a reason, its status is written no further, and other pods run, also after a restart of the agent', async () => {
    const made = await setUp();
    const { world, ordinary } = made;
    await using _ = world;
    world.create('evil', { containers: [{ name: 'app', image: 'app:1', args: ['x'.repeat(2_200_000)] }] });
    world.create('good', ordinary);
    for (const writes of [2, 1, 0]) {
      world.requests.length = 0;
      expect(await minuteOf(made)).toEqual(['Failed', 'Running']);
      // each makes the apiserver work on the whole pod
      expect(world.requests.filter((request) => request.endsWith('pods/evil/status'))).toHaveLength(writes);
      expect(world.pod('evil')?.status).toMatchObject({
        reason: 'PodTooLarge',
        message: expect.stringMatching(
          /^Pod was rejected: the pod takes \d+ bytes of memory, and this node holds 2097152 for one pod/,
        ),
      });
    }
  });
});

describe('a mirror pod that others give as many labels as the server takes', () => {
  it.each([
    ['too large by them alone', 0],
    ['too large without them', 15_000],
  ])('is still one, and the node runs the static pod once, also after a restart of the agent: %s', async (_, count) => {
    const staticPodPath = await tempDir();
    const containers = [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent' }];
    const tolerations = numbers(count).map((i) => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute' }));
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers, tolerations } };
    await writeFile(path.join(staticPodPath, 'web.json'), JSON.stringify(manifest));
    await using world = await NodeWorld.make();
    const uids = new Set<string | undefined>();
    for (const _run of [1, 2, 3]) {
      const agent = world.agent({ staticPodPath });
      await world.through(agent.start());
      await world.pass(60_000);
      const mirror = world.pod('web-node-1');
      expect(mirror?.status).toMatchObject({ phase: 'Running' });
      uids.add(mirror?.metadata?.uid);
      const sandboxes = await world.through(world.runtime.listPodSandboxes());
      expect(sandboxes.map(({ metadata }) => metadata.name)).toEqual(['web-node-1']);
      await world.through(agent.stop());
      const labels = Object.fromEntries(numbers(20_000).map((i) => [`example.com/l${i}`, 'x'.repeat(60)]));
      world.objects.target('/api/v1/pods').store.update({ ...mirror, metadata: { ...mirror?.metadata, labels } } as object);
    }
    expect(uids.size).toBe(1);
  });
});
