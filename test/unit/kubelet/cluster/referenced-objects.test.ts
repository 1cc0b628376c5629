import { describe, expect, it } from 'vitest';
import { ClusterParts } from '../../../../src/kubelet/agent/agent-clients.ts';
import { resolveAgentOptions } from '../../../../src/kubelet/agent/node-agent-options.ts';
import { buildPod } from '../../../../src/testing.ts';
import { NodeWorld } from '../agent/node-world.ts';

/** The parts over a server that has these secrets, and a list of events. */
async function setUp(...secrets: readonly string[]) {
  const world = await NodeWorld.make();
  const store = world.objects.target('/api/v1/secrets').store;
  for (const name of secrets) store.create({ metadata: { name, namespace: 'default' } });
  const events: string[] = [];
  const event = (_: unknown, type: string, reason: string, message: string): void =>
    void events.push(`${type} ${reason} ${message}`);
  const parts = new ClusterParts(resolveAgentOptions({ ...world.agentOptions(), eventRecorder: { event } }));
  return { world, parts, events };
}

const podWith = (...names: string[]) => buildPod({ spec: { imagePullSecrets: names.map((name) => ({ name })) } });

describe('the secrets that a pod pulls images with', () => {
  it('come in the order of the pod, and an event names those that cannot be read', async () => {
    const { world, parts, events } = await setUp('a', 'c');
    await using _ = world;
    const pod = podWith('c', 'b', 'a');
    parts.podStarting(pod);
    const read = await world.through(parts.pullSecretsOf(pod));
    expect(read.map(({ metadata }) => metadata?.name)).toEqual(['c', 'a']);
    expect(events).toEqual([
      'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (b); attempting to pull the image may not succeed.',
    ]);
    parts.podEnded(pod);
    await world.through(parts.stop());
    expect(world.timersLeft).toBe(0);
  });

  it('are none for a pod that names none, and no event tells of that', async () => {
    const { world, parts, events } = await setUp();
    await using _ = world;
    expect([await world.through(parts.pullSecretsOf(podWith())), events]).toEqual([[], []]);
    await world.through(parts.stop());
  });
});
