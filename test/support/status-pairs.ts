import fc from 'fast-check';
import type { JsonObject } from '../../src/api/json/types.ts';

/** The spec for which the statuses are valid: any container may run again. */
export const pairSpec = {
  nodeName: 'node-1',
  restartPolicy: 'Always',
  containers: ['a', 'b', 'c'].map((name) => ({ name, image: 'pause' })),
  initContainers: [
    { name: 'setup', image: 'pause' },
    { name: 'sidecar', image: 'pause', restartPolicy: 'Always' },
  ],
  resourceClaims: ['gpu', 'nic'].map((name) => ({ name, resourceClaimTemplateName: 'template' })),
};

export interface StatusPair {
  readonly old: JsonObject;
  readonly next: JsonObject;
}

const time = fc.constantFrom('1999-12-31T23:59:59Z', '2000-01-01T00:00:00Z', '2000-01-01T00:00:07Z');
const words = fc.constantFrom('A', 'Because', 'größer – 大', 'with "quotes" ~/ and \\');
const optional = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }, ...requiredKeys: (keyof T)[]) =>
  fc.record(fields, { requiredKeys });

const condition = optional(
  {
    type: fc.constantFrom('PodScheduled', 'Ready', 'Initialized', 'ContainersReady', 'example.com/gate', 'example.com/a.b_c'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: words,
    message: words,
    lastProbeTime: time,
    lastTransitionTime: time,
    observedGeneration: fc.integer({ min: 1, max: 3 }),
  },
  'type',
  'status',
);

const exitCode = fc.constantFrom(0, 1, 137);
const state = fc.oneof(
  fc.constant({}),
  fc.record({ waiting: optional({ reason: words, message: words }) }),
  fc.record({ running: optional({ startedAt: time }, 'startedAt') }),
  fc.record({ terminated: optional({ exitCode, reason: words, message: words, startedAt: time, finishedAt: time }, 'exitCode') }),
);

const quantities = optional({ cpu: fc.constantFrom('100m', '2'), memory: fc.constantFrom('64Mi', '1Gi') }, 'cpu');
const containerStatus = (name: string) =>
  optional(
    {
      name: fc.constant(name),
      image: fc.constantFrom('pause', 'pause:2'),
      imageID: fc.constantFrom('', 'pause@sha256:1'),
      ready: fc.boolean(),
      restartCount: fc.nat(3),
      state,
      lastState: state,
      started: fc.boolean(),
      containerID: fc.constantFrom('containerd://1', 'containerd://2'),
      allocatedResources: quantities,
      resources: optional({ limits: quantities, requests: quantities }, 'requests'),
      user: fc.record({ linux: fc.record({ uid: fc.nat(2), gid: fc.nat(2), supplementalGroups: fc.uniqueArray(fc.nat(3)) }) }),
      stopSignal: fc.constantFrom('SIGTERM', 'SIGUSR1'),
    },
    'name',
    'image',
    'imageID',
    'ready',
    'restartCount',
  );
const containerStatuses = (...names: string[]) =>
  fc.shuffledSubarray(names, { minLength: 1 }).chain((chosen) => fc.tuple(...chosen.map(containerStatus)));

/** At most one address of each family. The first one is also the single address. */
const addresses = (v4: string, v6: string) =>
  fc.oneof(
    fc.shuffledSubarray([`${v4}1`, `${v6}1`], { minLength: 1 }),
    fc.shuffledSubarray([`${v4}2`, `${v6}1`], { minLength: 1 }),
  );
const ips = (single: string, list: string, v4: string, v6: string) =>
  addresses(v4, v6).map((all): JsonObject => ({ [single]: all[0] ?? '', [list]: all.map((ip) => ({ ip })) }));

const status = fc
  .tuple(
    optional({
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
      message: words,
      reason: words,
      startTime: time,
      qosClass: fc.constant('BestEffort'),
      observedGeneration: fc.constantFrom(1, 2),
      conditions: fc.uniqueArray(condition, { selector: ({ type }) => type, minLength: 1 }),
      containerStatuses: containerStatuses('a', 'b', 'c'),
      initContainerStatuses: containerStatuses('setup', 'sidecar'),
      resourceClaimStatuses: fc
        .shuffledSubarray(['gpu', 'nic'], { minLength: 1 })
        .chain((names) =>
          fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), resourceClaimName: fc.constantFrom('x', 'y') }))),
        ),
    }),
    fc.option(ips('hostIP', 'hostIPs', '192.0.2.', '2001:db8::'), { nil: {} }),
    fc.option(ips('podIP', 'podIPs', '10.0.0.', 'fd00::'), { nil: {} }),
  )
  .map(([fields, host, pod]) => ({ ...fields, ...host, ...pod }) as JsonObject);

const together = [
  ['hostIP', 'hostIPs'],
  ['podIP', 'podIPs'],
] as const;

/** Two statuses that a kube-apiserver accepts one after the other for a pod of {@link pairSpec}. They share some members. */
export const statusPair: fc.Arbitrary<StatusPair> = fc
  .record({ old: status, fresh: status, kept: fc.uniqueArray(fc.nat(9)) })
  .map(({ old, fresh, kept }) => {
    const next = { ...fresh };
    const keys = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].sort();
    const chosen = new Set(keys.filter((_, index) => kept.includes(index)));
    for (const pair of together) {
      for (const key of pair) chosen.delete(key);
      if (kept.includes(pair[0].length)) for (const key of pair) chosen.add(key);
    }
    for (const key of chosen) {
      if (old[key] === undefined) delete next[key];
      else next[key] = old[key];
    }
    return { old, next };
  });
