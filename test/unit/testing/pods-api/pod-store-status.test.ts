import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import {
  buildContainerStatus,
  buildPod,
  buildRunningStatus,
  buildTerminatedState,
} from '../../../../src/testing/fakes/builders.ts';
import { type PodPatchType, PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import { refusal } from '../objects/refusal.ts';

const strategic = 'application/strategic-merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const merge = 'application/merge-patch+json';

/** A store with one running pod, and a function that patches its status. */
function runningPod(restartPolicy = 'Always') {
  const store = new PodStore();
  const pod = buildPod({ spec: { restartPolicy } });
  store.create(pod);
  const patch = (body: unknown, type: PodPatchType = strategic): WirePod =>
    store.patch('default', 'pod-1', { type, body, subresource: 'status' });
  patch({ status: buildRunningStatus(pod) });
  return {
    store,
    patch,
    status: (status: object) => patch({ status }).status,
    version: () => store.get('default', 'pod-1').metadata?.resourceVersion,
  };
}

/** The fields that a refusal names. */
const fields = (act: () => unknown): (string | undefined)[] => (refusal(act).details?.causes ?? []).map(({ field }) => field);

describe('PodStore.patch, preconditions', () => {
  it("refuses another pod's metadata.uid with 422 Invalid: the field is immutable", () => {
    const { patch } = runningPod();
    expect(refusal(() => patch({ metadata: { uid: 'other' }, status: { phase: 'Failed' } }))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'Pod "pod-1" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    });
  });

  it('refuses another uid even when it validates nothing', () => {
    const store = new PodStore({ validate: false, fillIns: false });
    store.put(buildPod());
    const body = { metadata: { uid: 'other' }, status: { phase: 'Failed' } };
    expect(refusal(() => store.patch('default', 'pod-1', { type: strategic, body, subresource: 'status' })).code).toBe(422);
    expect(store.get('default', 'pod-1').status?.phase).toBe('Pending');
  });

  it('refuses a stale resourceVersion with 409, before it looks at the uid', () => {
    const { patch } = runningPod();
    expect(refusal(() => patch({ metadata: { resourceVersion: '1', uid: 'other' }, status: { phase: 'Failed' } })).code).toBe(
      409,
    );
  });

  it('accepts the current resourceVersion and uid', () => {
    const { store, patch } = runningPod();
    const { uid, resourceVersion } = store.get('default', 'pod-1').metadata ?? {};
    expect(patch({ metadata: { uid, resourceVersion }, status: { phase: 'Failed' } }).status?.phase).toBe('Failed');
  });

  it('answers a resourceVersion that is no number with 500, as the server does', () => {
    const { patch } = runningPod();
    expect(refusal(() => patch({ metadata: { resourceVersion: 'abc' } })).code).toBe(500);
  });

  it('refuses another name or namespace with 400', () => {
    const { patch } = runningPod();
    expect(refusal(() => patch({ metadata: { name: 'b' } })).message).toBe(
      'the name of the object (b) does not match the name on the URL (pod-1)',
    );
    expect(refusal(() => patch({ metadata: { namespace: 'b' } })).code).toBe(400);
  });
});

describe('PodStore.patch, effect', () => {
  it('keeps the resourceVersion and makes no event when nothing changes', () => {
    const { store, patch, version } = runningPod();
    const before = version();
    let events = 0;
    store.watch(() => (events += 1));
    patch({ metadata: {}, status: { phase: 'Running', qosClass: null } });
    patch([], jsonPatch);
    expect(version()).toBe(before);
    expect(events).toBe(0);
  });

  it('counts it as no change when the server fills in a pod that was stored by put', () => {
    const store = new PodStore();
    const pod = buildPod({ status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] } });
    const before = store.put(pod);
    for (const subresource of ['status', undefined] as const) {
      const after = store.patch('default', 'pod-1', { type: strategic, body: { status: { phase: 'Running' } }, subresource });
      expect(after).toEqual(before);
    }
  });

  it('changes the status alone through the status subresource, and all but the status without it', () => {
    const { store, patch } = runningPod();
    const body = { metadata: { labels: { a: '1' } }, spec: { activeDeadlineSeconds: 5 }, status: { phase: 'Failed' } };
    expect(patch(body).spec?.activeDeadlineSeconds).toBeUndefined();
    const pod = store.patch('default', 'pod-1', { type: strategic, body: { ...body, status: { phase: 'Odd' } } });
    expect(pod).toMatchObject({ spec: { activeDeadlineSeconds: 5 }, status: { phase: 'Failed' }, metadata: { generation: 2 } });
  });

  it("merges conditions by type and leaves other writers' conditions alone", () => {
    const { status } = runningPod();
    status({ conditions: [{ type: 'example.com/Theirs', status: 'True' }] });
    const conditions = status({ conditions: [{ type: 'Ready', status: 'False' }] })?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'Ready')?.status).toBe('False');
    expect(conditions.some(({ type }) => type === 'example.com/Theirs')).toBe(true);
  });

  it('drops a condition with $patch delete', () => {
    const { status } = runningPod();
    const after = status({ conditions: [{ type: 'Ready', $patch: 'delete' }] });
    expect(after?.conditions?.map(({ type }) => type)).not.toContain('Ready');
    expect(after?.conditions).toHaveLength(3);
  });

  it('applies a JSON Patch and a JSON Merge Patch', () => {
    const { patch } = runningPod();
    expect(patch([{ op: 'replace', path: '/status/phase', value: 'Failed' }], jsonPatch).status?.phase).toBe('Failed');
    expect(patch({ status: { message: 'm', podIPs: null, podIP: null } }, merge).status).toMatchObject({
      phase: 'Failed',
      message: 'm',
    });
  });

  it.each([
    ['a failed test', [{ op: 'test', path: '/metadata/uid', value: 'other' }]],
    ['a missing path', [{ op: 'remove', path: '/status/message' }]],
    ['a missing parent', [{ op: 'add', path: '/status/nothing/here', value: 1 }]],
    ['an index past the end', [{ op: 'replace', path: '/status/conditions/9', value: {} }]],
    ['an unknown operation', [{ op: 'zap', path: '/status' }]],
  ])('answers %s in a JSON Patch with 422 and without a cause', (_what, operations) => {
    const { patch, version } = runningPod();
    const before = version();
    expect(refusal(() => patch([{ op: 'add', path: '/status/reason', value: 'R' }, ...operations], jsonPatch))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the server rejected our request due to an error in our request',
      reason: 'Invalid',
      details: {},
      code: 422,
    });
    expect(version()).toBe(before);
  });

  it("accepts in a JSON Patch what Go's library accepts: a replace of a missing member, and a test of one for null", () => {
    const { patch } = runningPod();
    const operations = [
      { op: 'test', path: '/status/message', value: null },
      { op: 'replace', path: '/status/message', value: 'm' },
    ];
    expect(patch(operations, jsonPatch).status?.message).toBe('m');
  });

  it('refuses patches of the wrong form with 400', () => {
    const { patch } = runningPod();
    expect(refusal(() => patch({ a: 1 }, jsonPatch)).code).toBe(400);
    expect(refusal(() => patch([1], merge)).code).toBe(400);
    expect(refusal(() => patch([1], strategic)).code).toBe(400);
  });

  it('answers an unknown $patch directive with 500 and without a reason, as the server does', () => {
    const { patch } = runningPod();
    const body = refusal(() => patch({ status: { conditions: [{ type: 'Ready', $patch: 'zap' }] } }));
    expect(body.code).toBe(500);
    expect(body.reason).toBeUndefined();
  });

  it('refuses a member of the wrong type with 422 in a patch and 400 in a PUT', () => {
    const { store, patch } = runningPod();
    expect(refusal(() => patch({ status: { phase: 5 } }))).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'patch' }] },
    });
    expect(refusal(() => patch({ status: { startTime: 'yesterday' } })).code).toBe(422);
    expect(refusal(() => store.updateStatus({ ...store.get('default', 'pod-1'), status: { conditions: 'x' } })).code).toBe(400);
  });
});

describe('PodStore, a status that the server refuses', () => {
  it('refuses a new podIP in addition to the old one: podIPs merge by ip', () => {
    const { status } = runningPod();
    expect(fields(() => status({ podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] }))).toEqual(['status.podIPs']);
    expect(status({ podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1', $patch: 'delete' }] })?.podIPs).toEqual([
      { ip: '10.0.0.2' },
    ]);
    expect(status({ podIP: '10.0.0.3', podIPs: [{ $patch: 'replace' }, { ip: '10.0.0.3' }] })?.podIPs).toEqual([
      { ip: '10.0.0.3' },
    ]);
  });

  it('accepts one address of each family, and refuses text that is no address', () => {
    const { status } = runningPod();
    expect(status({ podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] })?.podIPs).toHaveLength(2);
    expect(fields(() => status({ hostIP: '192.0.2.1', hostIPs: [{ ip: '192.0.2.1' }, { ip: 'nonsense' }] }))).toContain(
      'status.hostIPs[1]',
    );
  });

  it('refuses a hostIP that is not hostIPs[0]', () => {
    const { status } = runningPod();
    expect(fields(() => status({ hostIP: '192.0.2.9' }))).toEqual(['status.hostIPs[0].ip']);
  });

  it('refuses a nominatedNodeName on a bound pod, and accepts one on an unbound pod', () => {
    const { store, status } = runningPod();
    expect(fields(() => status({ nominatedNodeName: 'node-2' }))).toEqual(['status.nominatedNodeName']);
    store.create({ metadata: { name: 'unbound' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const patch = { type: strategic, body: { status: { nominatedNodeName: 'node-2' } }, subresource: 'status' } as const;
    expect(store.patch('default', 'unbound', patch).status?.nominatedNodeName).toBe('node-2');
  });

  it("refuses a qosClass other than the server's own", () => {
    const { status } = runningPod();
    expect(refusal(() => status({ qosClass: 'Guaranteed' })).message).toBe(
      'Pod "pod-1" is invalid: status.qosClass: Invalid value: "Guaranteed": field is immutable',
    );
  });

  it.each([
    ['Never', 1, false],
    ['Never', 0, false],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Always', 0, true],
  ])('under restart policy %s a container that ended with %i may run again: %s', (policy, exitCode, may) => {
    const { status } = runningPod(policy);
    status({ containerStatuses: [buildContainerStatus({ state: buildTerminatedState(exitCode) })] });
    const again = () => status({ containerStatuses: [buildContainerStatus()] });
    if (may) expect(again()?.containerStatuses?.[0]?.state?.running).toBeDefined();
    else expect(fields(again)).toEqual(['status.containerStatuses[0].state']);
  });

  it('lets a sidecar run again under restart policy Never, and any container when a rule restarts all of them', () => {
    const store = new PodStore();
    const ended = buildContainerStatus({ name: 's', state: buildTerminatedState() });
    const spec = { restartPolicy: 'Never', initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] };
    store.create(buildPod({ spec }));
    const patch = (status: object) =>
      store.patch('default', 'pod-1', { type: strategic, body: { status }, subresource: 'status' }).status;
    patch({ initContainerStatuses: [ended] });
    expect(
      patch({ initContainerStatuses: [buildContainerStatus({ name: 's' })] })?.initContainerStatuses?.[0]?.state?.running,
    ).toBeDefined();
    const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } };
    store.create(
      buildPod({
        metadata: { name: 'rules' },
        spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'i', restartPolicyRules: [rule] }] },
      }),
    );
    const other = (status: object) =>
      store.patch('default', 'rules', { type: strategic, body: { status }, subresource: 'status' }).status;
    other({ containerStatuses: [buildContainerStatus({ state: buildTerminatedState(1) })] });
    expect(other({ containerStatuses: [buildContainerStatus()] })?.containerStatuses?.[0]?.state?.running).toBeDefined();
  });

  it('refuses a condition type that is no qualified name, and negative generations', () => {
    const { status } = runningPod();
    expect(fields(() => status({ conditions: [{ type: 'a b', status: 'True' }] }))).toEqual(['status.conditions[0].Type']);
    expect(fields(() => status({ conditions: [{ type: 'A_/b', status: 'True' }] }))).toEqual(['status.conditions[0].Type']);
    expect(fields(() => status({ observedGeneration: -1 }))).toEqual(['status.observedGeneration']);
  });

  it('names every broken rule in one message', () => {
    const { status } = runningPod();
    expect(refusal(() => status({ qosClass: 'Burstable', hostIP: '192.0.2.9' })).message).toMatch(
      /^Pod "pod-1" is invalid: \[status\.qosClass: .*, status\.hostIPs\[0\]\.ip: .*\]$/,
    );
  });
});

describe('PodStore, a status that the server accepts', () => {
  it('accepts Failed -> Running: the server does not check phases', () => {
    const { status } = runningPod();
    status({ phase: 'Failed' });
    expect(status({ phase: 'Running' })?.phase).toBe('Running');
  });

  it('accepts container statuses with unknown and repeated names', () => {
    const { status } = runningPod();
    const names = status({ containerStatuses: [{ name: 'ghost' }, { name: 'ghost' }] })?.containerStatuses?.map(
      ({ name }) => name,
    );
    expect(names).toEqual(['ghost', 'ghost']);
  });

  it.each([[null], [''], [undefined]])('keeps its own qosClass for %j', (qosClass) => {
    const { store } = runningPod();
    const pod = store.get('default', 'pod-1');
    expect(store.updateStatus({ ...pod, status: { ...pod.status, qosClass } }).status?.qosClass).toBe('BestEffort');
  });

  it('fills in podIPs from a podIP, and podIP from podIPs', () => {
    const { status } = runningPod();
    expect(status({ podIP: null, podIPs: null })).not.toHaveProperty('podIP');
    expect(status({ podIP: '10.0.0.7' })?.podIPs).toEqual([{ ip: '10.0.0.7' }]);
    expect(status({ podIP: null })?.podIP).toBe('10.0.0.7');
  });

  it('keeps an observedGeneration that a client sets to 0 or leaves out, in the status and in conditions', () => {
    const { store, status } = runningPod();
    status({ observedGeneration: 3, conditions: [{ type: 'Ready', observedGeneration: 2 }] });
    const after = status({ observedGeneration: 0, conditions: [{ type: 'Ready', observedGeneration: 0, status: 'False' }] });
    expect(after?.observedGeneration).toBe(3);
    expect(after?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ observedGeneration: 2, status: 'False' });
    const pod = store.get('default', 'pod-1');
    const { observedGeneration: _gone, ...rest } = pod.status ?? {};
    expect(store.updateStatus({ ...pod, status: rest }).status?.observedGeneration).toBe(3);
  });

  it('drops unknown fields, cuts times to whole seconds in UTC, and writes the empty values that Go writes', () => {
    const { store } = runningPod();
    const pod = store.get('default', 'pod-1');
    const status = {
      phase: 'Running',
      bogus: 1,
      message: '',
      startTime: '2024-01-01T02:00:00.999+02:00',
      conditions: [{ type: 'Ready', status: 'True', bogus: 1 }],
      containerStatuses: [{ name: 'app', state: { running: {} } }],
    };
    expect(store.updateStatus({ ...pod, status }).status).toEqual({
      phase: 'Running',
      startTime: '2024-01-01T00:00:00Z',
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }],
      containerStatuses: [
        {
          name: 'app',
          state: { running: { startedAt: null } },
          lastState: {},
          ready: false,
          restartCount: 0,
          image: '',
          imageID: '',
        },
      ],
      qosClass: 'BestEffort',
    });
  });

  it('stores any status unchanged when it neither validates nor fills in', () => {
    const store = new PodStore({ validate: false, fillIns: false });
    store.put(buildPod({ status: { phase: 'Failed', qosClass: 'Guaranteed' } }));
    const body = {
      status: { phase: 'Running', qosClass: 'Burstable', podIP: 'nonsense', bogus: 1, startTime: '2024-01-01T00:00:00.5Z' },
    };
    const pod = store.patch('default', 'pod-1', { type: strategic, body, subresource: 'status' });
    expect(pod.status).toEqual(body.status);
  });
});
