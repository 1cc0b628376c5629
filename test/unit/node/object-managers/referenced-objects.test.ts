import { describe, expect, it } from 'vitest';
import type { NodeAgentOptions } from '../../../../src/kubelet.ts';
import { ReferencedObjects } from '../../../../src/node/object-managers/referenced-objects.ts';
import { buildPod } from '../../../../src/testing.ts';
import { NodeWorld } from '../../kubelet/agent/node-world.ts';

/** The objects of pods over a server that has these secrets, and a list of events. */
async function setUp(...secrets: readonly string[]) {
  const world = await NodeWorld.make();
  const store = world.objects.target('/api/v1/secrets').store;
  for (const name of secrets) store.create({ metadata: { name, namespace: 'default' } });
  const events: string[] = [];
  const event = (_: unknown, type: string, reason: string, message: string): void =>
    void events.push(`${type} ${reason} ${message}`);
  const { transport, clock } = world.agentOptions() as Required<NodeAgentOptions>;
  const objects = new ReferencedObjects({ event }, { transport, clock, logger: null });
  return { world, objects, events };
}

const podWith = (...names: string[]) => buildPod({ spec: { imagePullSecrets: names.map((name) => ({ name })) } });

describe('the secrets that a pod pulls images with', () => {
  it('come in the order of the pod, and an event names those that cannot be read', async () => {
    const { world, objects, events } = await setUp('a', 'c');
    await using _ = world;
    const pod = podWith('c', 'b', 'a');
    objects.registerPod(pod);
    const read = await world.through(objects.pullSecretsOf(pod));
    expect(read.map(({ metadata }) => metadata?.name)).toEqual(['c', 'a']);
    expect(events).toEqual([
      'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (b); attempting to pull the image may not succeed.',
    ]);
    objects.unregisterPod(pod);
    await world.through(objects.stop());
    expect(world.timersLeft).toBe(0);
  });

  it('are none for a pod that names none, and no event tells of that', async () => {
    const { world, objects, events } = await setUp();
    await using _ = world;
    expect([await world.through(objects.pullSecretsOf(podWith())), events]).toEqual([[], []]);
    await world.through(objects.stop());
  });
});
