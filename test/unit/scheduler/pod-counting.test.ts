import { describe, expect, it } from 'vitest';
import { isStatusManagerError } from '../../../src/base/errors.ts';
import { policyProfile, Scheduler } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

const policy = { predicates: [{ name: 'PodFitsResources' }], priorities: [] };
const sidecar = { name: 's', image: 's', restartPolicy: 'Always', resources: { requests: { cpu: '3' } } };

describe('a scheduler with a policy', () => {
  it.each([
    ['v1.36', 0],
    ['v1.22', 1],
  ] as const)('counts pods as %s, where the policy asks for it', async (counting, bound) => {
    const { scheduler } = schedulerWorld({ profiles: [policyProfile(policy, { counting })] });
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('web', '2', { initContainers: [sidecar] }));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.stats()).toMatchObject({ bound });
    await scheduler.stop();
  });

  it.each([
    ['v1.36', 0],
    ['v1.22', 1],
  ] as const)('counts as %s also the pods that are there', async (counting, bound) => {
    const { scheduler } = schedulerWorld({ profiles: [policyProfile(policy, { counting })] });
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('there', '1', { nodeName: 'n', initContainers: [sidecar] }));
    scheduler.setPod(pod('web', '1'));
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.stats()).toMatchObject({ bound });
    await scheduler.stop();
  });

  it('counts as today where nobody asks', () => {
    expect(policyProfile(policy).counting).toBe('v1.36');
  });

  it('refuses profiles that count otherwise than the first, and a way that is not known', () => {
    const classic = policyProfile(policy, { counting: 'v1.22' });
    const client = { bind: async () => undefined };
    const make = (...profiles: ConstructorParameters<typeof Scheduler>[0]['profiles'] & object) =>
      new Scheduler({ client, logger: null, profiles });
    const refused = (place: string) =>
      expect.toSatisfy((error: Error) => isStatusManagerError(error, 'ERR_INVALID_OPTION') && error.message.includes(place));
    expect(() => make(classic, { schedulerName: 'other' })).toThrow(refused('`profiles[1].counting`'));
    expect(() => make({ schedulerName: 'other' }, policyProfile(policy), classic)).toThrow(refused('`profiles[2].counting`'));
    expect(() => policyProfile(policy, { counting: 'v1.21' as 'v1.22' })).toThrow(refused('`options.counting`'));
    expect(make(classic, policyProfile(policy, { counting: 'v1.22', schedulerName: 'other' })).state).toBe('idle');
  });
});
