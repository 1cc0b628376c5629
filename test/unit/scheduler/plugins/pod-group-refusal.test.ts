import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { inTreePlugins, policyProfile, type SchedulerOptions } from '../../../../src/scheduler.ts';
import { all, extenderWorld } from '../extenders/extender-world.ts';
import { node, pod, schedulerWorld } from '../scheduler-world.ts';

const ofGroup = { schedulingGroup: { podGroupName: 'trainers' } };
const message =
  '0/1 nodes are available: the pod belongs to the pod group "trainers", and this scheduler places no groups of pods.';

/** A node, pods that are tried, and the lines of bindings. */
async function tried(pods: readonly WirePod[], options: Partial<SchedulerOptions> = {}) {
  const world = schedulerWorld(options);
  world.scheduler.setNode(node('n'));
  for (const one of pods) world.scheduler.setPod(one);
  world.scheduler.start();
  await world.scheduler.flush();
  return { ...world, bound: world.told.filter((line) => line.startsWith('bind')) };
}

describe('a pod of a pod group', () => {
  it.each<[string, Partial<SchedulerOptions>]>([
    ['the default profile', {}],
    ['a profile without any default plugin but those that bind', { profiles: [only('DefaultBinder')] }],
    ['a policy', { profiles: [policyProfile({ kind: 'Policy', apiVersion: 'v1', predicates: [{ name: 'PodFitsResources' }] })] }],
  ])('is refused with the reason, and the others are placed: %s', async (_what, options) => {
    const { scheduler, told, bound } = await tried([pod('worker', '1', ofGroup as never), pod('web')], options);
    expect(bound).toEqual(['bind web n']);
    expect(told[0]).toContain(`FailedScheduling worker: ${message.slice(0, -1)}`);
    expect(told).toContain('status worker Unschedulable');
    const { state, problem, text } = scheduler.explain('uid-worker');
    expect([state, problem?.kind]).toEqual(['waiting', 'pod-group']);
    expect(problem?.help).toMatch(/^Let a scheduler that places pod groups have the pod, or turn the plugin GangScheduling off/);
    expect(text).toContain('"trainers"');
    await scheduler.stop();
  });

  it.each([
    ['without a name', { schedulingGroup: {} }, 'the pod group (without a name)'],
    ['of a very long name', { schedulingGroup: { podGroupName: 'x'.repeat(1000) } }, `the pod group "${'x'.repeat(253)}"`],
    ['as v1.35 writes it', { workloadRef: { name: 'job', podGroup: 'workers' } }, 'the workload "job"'],
  ])('is refused also where the group is %s', async (_what, spec, words) => {
    const { scheduler, told, bound } = await tried([pod('worker', '1', spec as never)]);
    expect(bound).toEqual([]);
    expect(told[0]).toContain(`the pod belongs to ${words}, and`);
    await scheduler.stop();
  });

  it('ends no other pod, and no extender is asked of it', async () => {
    await using world = await extenderWorld({ filter: all });
    const { scheduler, told, server } = world;
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('low', '4', { nodeName: 'n', priority: 0 } as never));
    scheduler.setPod(pod('worker', '4', { ...ofGroup, priority: 10 } as never));
    scheduler.start();
    await scheduler.flush();
    expect(told.map((line) => line.split(' ')[0])).toEqual(['FailedScheduling', 'status']);
    expect(server.asked).toEqual([]);
  });

  it('is placed as all others where the profile turns GangScheduling off', async () => {
    const profiles = [{ plugins: { multiPoint: { disabled: [{ name: 'GangScheduling' }] } } }];
    const { scheduler, bound } = await tried([pod('worker', '1', ofGroup as never)], { profiles });
    expect(bound).toEqual(['bind worker n']);
    await scheduler.stop();
  });

  it('is placed as a plugin says that has the name GangScheduling', async () => {
    const asked: string[] = [];
    const own = {
      name: 'GangScheduling',
      permit: (_state: unknown, { name }: { readonly name: string }) => void asked.push(name),
    };
    const { scheduler, bound } = await tried([pod('worker', '1', ofGroup as never)], {
      registry: { ...inTreePlugins(), GangScheduling: () => own },
      profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'GangScheduling' }] } } }],
    });
    expect([bound, asked]).toEqual([['bind worker n'], ['worker']]);
    await scheduler.stop();
  });

  it('is none where the member is null', async () => {
    const { scheduler, bound } = await tried([pod('web', '1', { schedulingGroup: null } as never)]);
    expect(bound).toEqual(['bind web n']);
    await scheduler.stop();
  });
});

/** A profile with one of the default plugins, and with what orders the queue. */
function only(name: string) {
  return { plugins: { multiPoint: { disabled: [{ name: '*' }], enabled: [{ name: 'PrioritySort' }, { name }] } } };
}
