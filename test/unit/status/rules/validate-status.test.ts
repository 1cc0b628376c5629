import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../../../src/api/json/types.ts';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { requireStatus } from '../../../../src/status/rules/validate-status.ts';
import { Harness, testPod } from '../status-harness.ts';

const condition = (status: unknown, type: unknown = 'Ready') => ({
  conditions: [
    { type: 'First', status: 'True' },
    { type, status },
  ],
});
const containers = (...statuses: unknown[]) => ({ containerStatuses: statuses });
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `c${i}` }));

/** What an agent may not set, and what it is told. */
const refused: [status: unknown, message: string][] = [
  [
    { phase: 'Runing' },
    'Expected `status.phase` to be Pending, Running, Succeeded, Failed, Unknown or empty, got "Runing" (string)',
  ],
  [
    { phase: 'running' },
    'Expected `status.phase` to be Pending, Running, Succeeded, Failed, Unknown or empty, got "running" (string)',
  ],
  [{ phase: true }, 'Expected `status.phase` to be Pending, Running, Succeeded, Failed, Unknown or empty, got true (boolean)'],
  [{ phase: ['Running'] }, 'Expected `status.phase` to be Pending, Running, Succeeded, Failed, Unknown or empty, got (array)'],
  [condition(true), 'Expected `status.conditions[1].status` to be a string, got true (boolean)'],
  [condition(0), 'Expected `status.conditions[1].status` to be a string, got 0 (number)'],
  [condition({}), 'Expected `status.conditions[1].status` to be a string, got (object)'],
  [condition('True', 7), 'Expected `status.conditions[1].type` to be a string, got 7 (number)'],
  [
    containers({ image: 'i' }),
    'Expected `status.containerStatuses` to be a list that names each container once, got "" (string)',
  ],
  [
    containers({ name: 'c' }, { name: '' }),
    'Expected `status.containerStatuses` to be a list that names each container once, got "" (string)',
  ],
  [containers({ name: 7 }), 'Expected `status.containerStatuses[0].name` to be a string, got 7 (number)'],
  [
    containers(...numbered(20), { name: 'c3' }),
    'Expected `status.containerStatuses` to be a list that names each container once, got "c3" (string)',
  ],
];

const ended = (terminated: unknown) => containers({ name: 'c', state: { terminated } });
const integer = 'a whole number of 32 bits';

/** A member that Kubernetes knows, with a value of another type: what is given, where it is wrong, and the rule. */
const misfits: [status: unknown, path: string, rule: string][] = [
  [{ podIPs: ['10.0.0.1'] }, 'podIPs[0]', 'an object'],
  [{ podIPs: [null] }, 'podIPs[0]', 'an object'],
  [{ podIPs: [{ ip: '10.0.0.1' }, {}] }, 'podIPs[1].ip', 'given'],
  [{ podIPs: [{ ip: 7 }] }, 'podIPs[0].ip', 'a string'],
  [{ podIPs: { ip: '10.0.0.1' } }, 'podIPs', 'a list'],
  [{ hostIPs: ['10.0.0.1'] }, 'hostIPs[0]', 'an object'],
  [{ hostIPs: '10.0.0.1' }, 'hostIPs', 'a list'],
  [{ podIP: 7 }, 'podIP', 'a string'],
  [{ hostIP: {} }, 'hostIP', 'a string'],
  [{ reason: true }, 'reason', 'a string'],
  [{ message: ['a'] }, 'message', 'a string'],
  [{ qosClass: 1 }, 'qosClass', 'a string'],
  [{ allocatedResources: '1' }, 'allocatedResources', 'an object'],
  [{ resources: { limits: [], requests: 'x' } }, 'resources.requests', 'an object'],
  [{ conditions: [{ type: 'a', status: 'True', reason: 7 }] }, 'conditions[0].reason', 'a string'],
  [{ conditions: [{ type: 'a', status: 'True', message: {} }] }, 'conditions[0].message', 'a string'],
  [
    { conditions: [{ type: 'a', status: 'True', observedGeneration: 1.5 }] },
    'conditions[0].observedGeneration',
    'a whole number',
  ],
  [containers({ name: 'c', restartCount: -1 }), 'containerStatuses[c].restartCount', `${integer}, 0 or more`],
  [containers({ name: 'c', restartCount: 1.5 }), 'containerStatuses[c].restartCount', `${integer}, 0 or more`],
  [containers({ name: 'c', restartCount: 2 ** 40 }), 'containerStatuses[c].restartCount', `${integer}, 0 or more`],
  [ended({ exitCode: 1.5 }), 'containerStatuses[c].state.terminated.exitCode', integer],
  [ended({ exitCode: '1' }), 'containerStatuses[c].state.terminated.exitCode', integer],
  [ended({ exitCode: 2 ** 31 }), 'containerStatuses[c].state.terminated.exitCode', integer],
  [ended({ signal: -1.5 }), 'containerStatuses[c].state.terminated.signal', integer],
  [ended({ reason: 7 }), 'containerStatuses[c].state.terminated.reason', 'a string'],
  [ended('yes'), 'containerStatuses[c].state.terminated', 'an object'],
  [
    containers({ name: 'c', lastState: { terminated: { exitCode: 0.5 } } }),
    'containerStatuses[c].lastState.terminated.exitCode',
    integer,
  ],
  [containers({ name: 'c', state: { running: true } }), 'containerStatuses[c].state.running', 'an object'],
  [containers({ name: 'c', state: { waiting: { reason: 7 } } }), 'containerStatuses[c].state.waiting.reason', 'a string'],
  [containers({ name: 'c', started: 'yes' }), 'containerStatuses[c].started', 'a boolean'],
  [containers({ name: 'c', stopSignal: 15 }), 'containerStatuses[c].stopSignal', 'a string'],
  [containers({ name: 'c', resources: { limits: 7 } }), 'containerStatuses[c].resources.limits', 'an object'],
  [containers({ name: 'c', volumeMounts: ['data'] }), 'containerStatuses[c].volumeMounts[0]', 'an object'],
  [
    containers({ name: 'c', volumeMounts: [{ name: 'data', mountPath: 1 }] }),
    'containerStatuses[c].volumeMounts[0].mountPath',
    'a string',
  ],
  [containers({ name: 'c', user: { linux: { uid: '0' } } }), 'containerStatuses[c].user.linux.uid', 'a whole number'],
  [
    { initContainerStatuses: [{ name: 'c', restartCount: 0.5 }] },
    'initContainerStatuses[c].restartCount',
    `${integer}, 0 or more`,
  ],
];

describe('requireStatus', () => {
  const check = (status: unknown, previous?: unknown): void =>
    requireStatus(normalizeStatus({}, status as PodStatus), previous as never);

  it.each(refused.slice(0, 7))('refuses %j by name, value and type', (status, message) => {
    expect(() => check(status)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message }));
  });

  it.each(misfits)('refuses %j, which the apiserver could not store', (status, path, rule) => {
    const message = expect.stringContaining(`Expected \`status.${path}\` to be ${rule}, got `);
    expect(() => check(status)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message }));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('refuses the restart count %d', (restartCount) => {
    const message = expect.stringContaining('`status.containerStatuses[0].restartCount` to be a finite number');
    expect(() => check(containers({ name: 'c', restartCount }))).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message }),
    );
  });

  it('takes any value of a member that Kubernetes 1.36 does not know', () => {
    const strange = { strange: [{ deep: 1.5 }] };
    const conditions = [{ type: 'a', status: 'True', ...strange }];
    expect(() => check({ ...strange, conditions, podIPs: [{ ip: '10.0.0.1', ...strange }] })).not.toThrow();
    expect(() => check(containers({ name: 'c', ...strange, state: { frozen: 7 }, user: { linux: strange } }))).not.toThrow();
  });

  it.each([undefined, null, '', 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])('takes the phase %j', (phase) => {
    expect(() => check({ phase })).not.toThrow();
  });

  it('takes any text for the status of a condition, and none, as upstream does', () => {
    expect(() => check({ conditions: [{ type: 'a', status: 'Perhaps' }, { type: 'b' }] })).not.toThrow();
  });

  it('looks again only at what is not in the cache already', () => {
    const previous = normalizeStatus({}, condition(true) as PodStatus);
    expect(() => requireStatus({ ...previous }, previous)).not.toThrow();
    expect(() => requireStatus(structuredClone(previous), previous)).toThrow(/conditions\[1\]/);
  });
});

describe('StatusManager, a status that an agent may not set', () => {
  it.each(refused)('refuses %j before anything changes', async (status, message) => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running', ...containers({ name: 'c' }) } as never);
    const before = { status: h.manager.getPodStatus('12345678'), version: h.manager.explain('12345678').version };
    expect(() => h.manager.setPodStatus(pod, status as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message }),
    );
    expect({ status: h.manager.getPodStatus('12345678'), version: h.manager.explain('12345678').version }).toEqual(before);
    expect(await h.calls()).toEqual([]);
  });

  it('takes a copy from the apiserver as it is, with a phase of a newer Kubernetes', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ status: { phase: 'Hibernating' } }));
    expect(await h.set(pod, { phase: 'Running' })).toEqual(['patch']);
    h.rival(pod, { phase: 'Hibernating' });
    h.observe(pod);
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(pod).phase).toBe('Running');
  });
});
