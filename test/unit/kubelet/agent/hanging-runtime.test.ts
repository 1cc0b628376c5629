// A runtime that takes a call and never answers. `CriRuntime` ends each call after two minutes; here only the agent's own limits count.
import { expect, it } from 'vitest';
import type { FakeRuntime } from '../../../../src/testing.ts';
import { NodeWorld } from './node-world.ts';

type Call = NonNullable<Parameters<FakeRuntime['fail']>[0]['call']>;

const lists = /the container runtime does not list its pods/;
const waits = /^default\/new: syncPod\(\) of the pod has not ended/m;
const ends = /^default\/leaving: the pod has not ended within its grace period of 5 s, and the runtime has not said/m;
const [isGone, runs, isPending] = [undefined, 'Running', 'Pending'];

it.each<[Call, { leaving: string | undefined; fresh: string; told: RegExp | undefined; heals: boolean }]>([
  ['Version', { leaving: isGone, fresh: runs, told: undefined, heals: true }],
  [
    'Status',
    { leaving: isGone, fresh: runs, told: /the container runtime is not well: Status gave no answer within 30 s/, heals: true },
  ],
  ['ListPodSandbox', { leaving: runs, fresh: isPending, told: lists, heals: true }],
  ['ListContainers', { leaving: runs, fresh: isPending, told: lists, heals: true }],
  ['PodSandboxStatus', { leaving: runs, fresh: isPending, told: lists, heals: false }],
  ['ContainerStatus', { leaving: runs, fresh: isPending, told: lists, heals: true }],
  ['RunPodSandbox', { leaving: isGone, fresh: isPending, told: waits, heals: false }],
  ['ImageStatus', { leaving: isGone, fresh: isPending, told: waits, heals: false }],
  ['PullImage', { leaving: isGone, fresh: isPending, told: waits, heals: false }],
  ['CreateContainer', { leaving: isGone, fresh: isPending, told: waits, heals: false }],
  ['StartContainer', { leaving: isGone, fresh: isPending, told: waits, heals: false }],
  ['StopContainer', { leaving: runs, fresh: runs, told: ends, heals: false }],
  ['StopPodSandbox', { leaving: runs, fresh: runs, told: ends, heals: false }],
  ['RemoveContainer', { leaving: isGone, fresh: runs, told: undefined, heals: true }],
  ['RemovePodSandbox', { leaving: isGone, fresh: runs, told: undefined, heals: true }],
  ['ListImages', { leaving: isGone, fresh: runs, told: undefined, heals: true }],
])('a runtime that hangs at %s costs pods that run nothing, and the agent says what it waits for', async (call, expected) => {
  await using world = await NodeWorld.make();
  const agent = world.agent({ evictionHard: {}, imageGCHighThresholdPercent: 100 });
  const phases = () => ['old', 'leaving', 'new'].map((name) => world.pod(name)?.status?.phase);
  await world.through(agent.start());
  world.create('old');
  world.create('leaving');
  await world.pass(10_000);
  world.runtime.fail({ call, times: 1e9, fault: { kind: 'hang' } });
  world.create('new', { containers: [{ name: 'app', image: 'other:1', imagePullPolicy: 'Always' }] });
  world.delete('leaving', 5);
  await world.pass(600_000);
  expect(phases()).toEqual(['Running', expected.leaving, expected.fresh]);
  const notes = agent.snapshot().notes.join('\n');
  if (expected.told === undefined) expect(notes).toBe('');
  else expect(notes).toMatch(expected.told);

  world.runtime.heal();
  await world.pass(600_000);
  if (expected.heals) expect([phases(), agent.snapshot().notes]).toEqual([['Running', undefined, 'Running'], []]);
  // what was taken and never answered is told for as long as it goes on
  else expect(agent.snapshot().notes.join('\n')).toMatch(/has not ended/);
  expect(world.pod('old')?.status?.containerStatuses?.[0]).toMatchObject({ ready: true, restartCount: 0 });
  await world.through(agent.stop());
});
