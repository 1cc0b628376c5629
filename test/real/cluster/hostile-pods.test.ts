import { setTimeout } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, inject, it } from 'vitest';
import { kindsOfHostilePods } from '../../support/hostile/hostile-pods.ts';
import { HostileWorld, isDecided, isRunning } from '../../support/hostile/hostile-world.ts';

const ten = (name: string): string[] => Array.from({ length: 10 }, (_, index) => `${name}-${index}`);

it('pods as large as the server takes them do not end an agent of 128 MB, are refused with a reason, and hinder no other pod', async () => {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(inject('controlPlaneKubeconfig'));
  await using world = await HostileWorld.open(kubeConfig, 'hostile');
  await world.startAgent();
  for (const name of ten('before')) await world.createOrdinary(name);
  const hostile = kindsOfHostilePods.map((kind, index) => ({ kind, name: `h${index}` }));
  for (const { kind, name } of hostile) expect(await world.createHostile(kind, name), kind).toBeGreaterThan(250_000);
  for (const name of ten('beside')) await world.createOrdinary(name);
  await world.reach([...ten('before'), ...ten('beside')], isRunning);
  await world.reach(
    hostile.map(({ name }) => name),
    isDecided,
  );
  // the server works on the whole pod for each write of its status: none is written again in the next batch
  await world.usage();
  await setTimeout(11_000);
  expect((await world.usage()).repairs).toBe(0);
  const statuses = await Promise.all(hostile.map(({ name }) => world.status(name)));
  const refused = statuses.filter((status) => status?.reason === 'PodTooLarge');
  expect(refused.length).toBeGreaterThan(hostile.length / 2);
  for (const status of refused) {
    expect(status).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(/^Pod was rejected: the pod takes \d+ bytes of memory/),
    });
  }

  // pods that run may become large, too
  for (const name of ten('before')) await world.label(name);
  await world.stopAgent();
  await world.startAgent();
  for (const name of ten('after')) await world.createOrdinary(name);
  await world.reach(ten('after'), isRunning);
  await world.reach([...ten('before'), ...ten('beside')], isRunning);
  expect(world.agentEnd).toBeUndefined();
}, 240_000);
