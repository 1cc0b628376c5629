import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus, WireContainerStatus, WirePodStatus } from '../../../../src/api/json/types.ts';
import { withProbedStates } from '../../../../src/node/probes/container-state.ts';
import { ProbeManager } from '../../../../src/node/probes/probe-manager.ts';
import { ProbeResults, probeSettings } from '../../../../src/node/probes/probe-types.ts';
import { ProbedContainer } from '../../../../src/node/probes/probed-container.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const count = 500;

/** A pod of many containers that counts how often a name is read, of its spec or of its status. */
function manyContainers() {
  let reads = 0;
  const counted = <T extends object>(value: T): T =>
    new Proxy(value, {
      get: (target, key) => {
        if (key === 'name') reads += 1;
        return Reflect.get(target, key);
      },
    });
  const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [7] } };
  const containers = Array.from({ length: count }, (_, index) =>
    counted({ name: `c${index}`, image: 'i', restartPolicy: 'Never', restartPolicyRules: [rule] }),
  );
  const containerStatuses = Array.from({ length: count }, (_, index) =>
    counted({ name: `c${index}`, containerID: `x://${index}`, state: { terminated: { exitCode: 1 } } }),
  );
  const pod = { metadata: { uid: 'u', name: 'p', namespace: 'd' }, spec: { containers } } as unknown as Pod;
  const status = { phase: 'Running', containerStatuses } as unknown as PodStatus;
  return { pod, status, containers, reads: () => reads };
}

describe('a pod of many containers', () => {
  it('is gone through once for the states of all of them', () => {
    const { pod, status, reads } = manyContainers();
    const context = { results: new ProbeResults(), agentStartedAt: 0, hasWorker: () => false, triggerReadiness: () => {} };
    const { containerStatuses } = withProbedStates(pod, status as WirePodStatus, context);
    expect(containerStatuses).toHaveLength(count);
    expect(reads()).toBeLessThan(10 * count);
  });

  it('is gone through once where each of them is asked for', async () => {
    const { pod, containers, reads } = manyContainers();
    const nothing = () => Promise.reject(new Error('nothing is probed'));
    const probes = new ProbeManager({
      prober: { exec: nothing, http: nothing, tcp: nothing, grpc: nothing },
      statusManager: { getPodStatus: () => undefined, setContainerReadiness: () => {}, setContainerStartup: () => {} },
      clock: new FakeClock(),
      logger: null,
    });
    for (const { name } of containers) probes.containerState(pod, { name, state: { running: {} } } as WireContainerStatus);
    expect(reads()).toBeLessThan(10 * count);
    await probes.stop();
  });

  it('is gone through once to see whether all of them restart', () => {
    const { pod, status, containers, reads } = manyContainers();
    const container = containers[0] as (typeof containers)[number];
    const definition = { pod, container, type: 'liveness', settings: probeSettings({}) } as const;
    const probed = new ProbedContainer(definition as unknown as ConstructorParameters<typeof ProbedContainer>[0]);
    expect(probed.observe(status, { now: 0, elapsed: 0, agentStartedAt: 0 }).next).toBe('end');
    expect(reads()).toBeLessThan(10 * count);
  });
});
