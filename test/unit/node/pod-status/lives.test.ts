import { describe, expect, it } from 'vitest';
import type { Pod, WireContainerStatus, WirePodStatus } from '../../../../src/api/json/types.ts';
import { isTerminalPhase } from '../../../../src/api/pod/pod-identity.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from '../../../../src/api/pod/runtime-pod.ts';
import { generatePodStatus } from '../../../../src/node/pod-status/generate-pod-status.ts';
import type { GivenContainer } from '../../../../src/node/pod-status/given-status.ts';
import { podStatusFromContainers } from '../../../../src/node/pod-status/pod-status-from-containers.ts';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { requireStatus } from '../../../../src/status/rules/validate-status.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { Prng } from '../../../random/chaos/prng.ts';
import { podOf, type Spec } from './pods.ts';

const lives = 100;
const stepsOfALife = 12;
const start = Date.parse('2000-01-01T00:00:00Z');
const phases = ['Pending', 'Running', 'Succeeded', 'Failed'];

type Container = Spec['containers'][number];

function randomPod(prng: Prng): Pod {
  const container = (name: string): Container => ({
    name,
    image: 'i',
    ...(prng.chance(0.3) && { restartPolicy: prng.pick(['Never', 'OnFailure', 'Always']) ?? 'Never' }),
    ...(prng.chance(0.3) && { resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } } }),
    ...(prng.chance(0.2) && { volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: prng.chance(0.5) }] }),
    ...(prng.chance(0.3) && { readinessProbe: {} }),
    ...(prng.chance(0.2) && { restartPolicyRules: [rule(prng)] }),
  });
  const some = (names: string[], least: number) => names.slice(0, prng.int(least, names.length)).map(container);
  const generation = prng.int(0, 3);
  return podOf(
    {
      restartPolicy: prng.pick(['Always', 'OnFailure', 'Never']) ?? 'Always',
      hostNetwork: prng.chance(0.2),
      initContainers: some(['x', 'y'], 0),
      containers: some(['c', 'a', 'b'], 1),
      ephemeralContainers: some(['e'], 0),
      ...(prng.chance(0.3) && { readinessGates: [{ conditionType: 'example.com/gate' }] }),
    },
    { conditions: [{ type: 'example.com/gate', status: prng.pick(['True', 'False']) ?? 'True' }] },
    { generation },
  );
}

function rule(prng: Prng) {
  const action = prng.pick(['Restart', 'RestartAllContainers']) ?? 'Restart';
  return { action, exitCodes: { operator: prng.pick(['In', 'NotIn']) ?? 'In', values: [42] } };
}

const namesOf = ({ spec }: Pod) =>
  [spec?.initContainers, spec?.containers, spec?.ephemeralContainers].flatMap((list) => (list ?? []).map(({ name }) => name));

/** Anything a runtime could say, likely or not. */
function randomRuntime(prng: Prng, pod: Pod, now: number): RuntimePodStatus {
  const containers = [...namesOf(pod), 'stranger'].flatMap((name) =>
    Array.from({ length: prng.int(0, 3) }, () => randomRecord(prng, name, now)),
  );
  const ips = ['10.0.0.1', 'fd00::1', 'nowhere'].filter(() => prng.chance(0.5));
  const sandboxes = Array.from({ length: prng.int(0, 2) }, () => ({ ready: prng.chance(0.7), network: { ip: '10.0.0.1' } }));
  return { podUID: 'u', ips, containers, sandboxes };
}

function randomRecord(prng: Prng, name: string, now: number): RuntimeContainerStatus {
  const startedAt = now - prng.int(0, 100_000);
  return {
    name,
    id: `cri://${name}${prng.int(0, 5)}`,
    state: prng.pick(['created', 'running', 'exited', 'unknown'] as const) ?? 'unknown',
    exitCode: prng.pick([0, 1, 42, 137]) ?? 0,
    restartCount: prng.int(0, 4),
    active: prng.chance(0.7),
    ...(prng.chance(0.8) && { createdAt: startedAt, startedAt, finishedAt: now }),
    ...(prng.chance(0.5) && { reason: 'Error', message: 'gone', image: 'i', imageRef: 'sha256:1' }),
  };
}

function randomGiven(prng: Prng, pod: Pod): GivenContainer[] {
  const names = namesOf(pod).filter(() => prng.chance(0.8));
  return names.map((name): GivenContainer => {
    const id = prng.chance(0.3) && { id: `mine://${name}${prng.int(0, 3)}` };
    const state = prng.pick(['waiting', 'running', 'exited'] as const) ?? 'waiting';
    if (state === 'exited') return { name, state, exitCode: prng.pick([0, 1, 42]) ?? 0, ...id };
    if (state === 'waiting') return { name, state, ...(prng.chance(0.3) && { lastState: { exitCode: 1 } }) };
    return { name, state, ...id, ...(prng.chance(0.5) && { ready: prng.chance(0.5) }) };
  });
}

const containersOf = (status: WirePodStatus): WireContainerStatus[] =>
  [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses].flatMap((list) => list ?? []);

/** What must hold of any status, and of one that follows another. */
function check(pod: Pod, status: WirePodStatus, before: WirePodStatus | undefined): void {
  expect(normalizeStatus(pod, status)).toEqual(status);
  requireStatus(status);
  expect(phases).toContain(status.phase);
  expect(
    containersOf(status)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(namesOf(pod).sort());
  for (const { state, lastState } of containersOf(status)) {
    expect(Object.keys(state ?? {})).toHaveLength(1);
    expect(Object.keys(lastState ?? {}).length).toBeLessThanOrEqual(1);
  }
  if (before === undefined) return;
  if (isTerminalPhase(before.phase)) expect(isTerminalPhase(status.phase)).toBe(true);
  for (const { name, restartCount } of containersOf(before)) {
    expect(containersOf(status).find((one) => one.name === name)?.restartCount).toBeGreaterThanOrEqual(restartCount);
  }
}

/** The pod, with the phase on the apiserver that was generated before, if that has got there. */
function asOnServer(prng: Prng, pod: Pod, before: WirePodStatus | undefined): Pod {
  const phase = before?.phase;
  return phase !== undefined && prng.chance(0.5) ? { ...pod, status: { ...pod.status, phase } } : pod;
}

/** Plays lives of pods: each status is the one before for the next. Returns how many went through each phase. */
function playLives(seed: number, next: (prng: Prng, pod: Pod, now: number, before: WirePodStatus | undefined) => WirePodStatus) {
  const seen = new Map<string, number>();
  for (let life = 0; life < lives; life++) {
    const prng = new Prng(seed, life);
    const pod = randomPod(prng);
    let before: WirePodStatus | undefined;
    for (let step = 0; step < stepsOfALife; step++) {
      const status = next(prng, pod, start + step * 60_000, before);
      check(pod, status, before);
      seen.set(status.phase ?? '', (seen.get(status.phase ?? '') ?? 0) + 1);
      before = status;
    }
  }
  return seen;
}

describe('over the life of a pod', () => {
  it('any view of the runtime gives a status that can be stored; counts never go back, and an end stays', () => {
    const seen = playLives(1, (prng, pod, now, previous) =>
      generatePodStatus({
        pod: asOnServer(prng, pod, previous),
        runtimeStatus: randomRuntime(prng, pod, now),
        previous,
        podIsTerminal: prng.chance(0.05),
        hostIPs: ['192.0.2.1', '2001:db8::1'].slice(0, prng.int(0, 2)),
        reasons: new Map(
          namesOf(pod)
            .filter(() => prng.chance(0.3))
            .map((name) => [name, { reason: 'CrashLoopBackOff' }]),
        ),
        ...(prng.chance(0.01) && { eviction: { reason: 'Evicted', message: 'no memory' } }),
      }),
    );
    for (const phase of phases) expect(seen.get(phase), phase).toBeGreaterThan(10);
  });

  it('the same holds of containers that are given, and the same containers give the same status again', () => {
    const seen = playLives(2, (prng, pod, now, previous) => {
      const containers = randomGiven(prng, pod);
      const options = { podIPs: ['10.0.0.1'], podIsTerminal: prng.chance(0.05) };
      const at = (start: number) => ({ ...options, clock: new FakeClock({ start }) });
      const status = podStatusFromContainers(pod, containers, { ...at(now), previous });
      expect(podStatusFromContainers(pod, containers, { ...at(now + 30_000), previous: status })).toEqual(status);
      if (isTerminalPhase(previous?.phase)) expect(status.phase).toBe(previous?.phase);
      return status;
    });
    for (const phase of phases) expect(seen.get(phase), phase).toBeGreaterThan(10);
  });
});
