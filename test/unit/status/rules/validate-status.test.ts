import { describe, expect, it } from 'vitest';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { requireStatus } from '../../../../src/status/rules/validate-status.ts';
import type { PodStatus } from '../../../../src/wire/types.ts';
import { Harness, testPod } from '../harness.ts';

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

describe('requireStatus', () => {
  const check = (status: unknown, previous?: unknown): void =>
    requireStatus(normalizeStatus({}, status as PodStatus), previous as never);

  it.each(refused.slice(0, 7))('refuses %j by name, value and type', (status, message) => {
    expect(() => check(status)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message }));
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
