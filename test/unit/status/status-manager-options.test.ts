import { describe, expect, it } from 'vitest';
import { isStatusManagerError } from '../../../src/base/errors.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { resolveOptions } from '../../../src/status/status-manager-options.ts';
import { FakePodClient } from '../../../src/testing/fakes/fake-pod-client.ts';

const required = {
  podClient: new FakePodClient(),
  podManager: new BasicPodManager(),
  podDeletionSafety: { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false },
};
const construct = (options: object): StatusManager => new StatusManager({ ...required, ...options } as never);

describe('StatusManager options', () => {
  type Row = [option: string, value: unknown, rule: string, type: string];
  const rows: Row[] = [
    ['podClient', undefined, 'an object with getPod, patchPodStatus, deletePod', 'undefined'],
    ['podClient', {}, 'an object with getPod, patchPodStatus, deletePod', '(object)'],
    ['podClient', { getPod: () => {}, deletePod: () => {} }, 'an object with patchPodStatus', '(object)'],
    ['podManager', null, 'an object with getPodByUID, getMirrorPodByPod, translatePodUID, getUIDTranslations', 'null'],
    ['podDeletionSafety', 'yes', 'an object with podCouldHaveRunningContainers, podResourcesAreReclaimed', '"yes" (string)'],
    ['syncPeriodMs', 0, 'a number from 1 to 2147483647', '0 (number)'],
    ['syncPeriodMs', '10', 'a number from 1 to 2147483647', '"10" (string)'],
    ['syncPeriodMs', 2 ** 31, 'a number from 1 to 2147483647', '2147483648 (number)'],
    ['syncPeriodMs', Number.NaN, 'a number from 1 to 2147483647', 'NaN (number)'],
    ['channelCapacity', -1, 'an integer from 0 up', '-1 (number)'],
    ['channelCapacity', 1.5, 'an integer from 0 up', '1.5 (number)'],
    ['concurrency', 0, 'an integer from 1 up', '0 (number)'],
    ['concurrency', Number.POSITIVE_INFINITY, 'an integer from 1 up', 'Infinity (number)'],
    ['requestTimeoutMs', 0, 'a number from 1 to 2147483647', '0 (number)'],
    ['rateLimiter', 5, 'an object { qps, burst }', '5 (number)'],
    ['rateLimiter.qps', { qps: 0, burst: 1 }, 'a number from 0.001 to 1000000', '0 (number)'],
    ['rateLimiter.burst', { qps: 1, burst: 0 }, 'an integer from 1 up', '0 (number)'],
    ['patchFormat', 'merge', 'one of "strategic", "json"', '"merge" (string)'],
    ['fetchBeforePatch', 'never', 'one of "when-unknown", "always"', '"never" (string)'],
    ['terminateWhenReclaimed', 'true', 'a boolean', '"true" (string)'],
    ['ownedConditionTypes', 'Ready', 'a list of condition types (non-empty strings)', '"Ready" (string)'],
    ['ownedConditionTypes', ['a', ''], 'a list of condition types (non-empty strings)', '"" (string)'],
    ['podSource', {}, 'an object with lastObservedAt', '(object)'],
    ['staleAfterMs', 0, 'a number from 1 to', '0 (number)'],
    ['random', 0.5, 'a function', '0.5 (number)'],
    ['clock', {}, 'an object with now, setTimer', '(object)'],
    ['logger', { info: () => {} }, 'an object with debug, warn, error', '(object)'],
    ['metrics', { increment: () => {} }, 'an object with observe, set', '(object)'],
  ];

  it.each(rows)('refuses %s when it is %j, and names rule, value and type', (option, value, rule, type) => {
    const [name = ''] = option.split('.');
    let error: unknown;
    try {
      construct({ [name]: value });
    } catch (thrown) {
      error = thrown;
    }
    expect(isStatusManagerError(error, 'ERR_INVALID_OPTION')).toBe(true);
    const { message } = error as Error;
    expect(message.startsWith(`Expected \`${option}\` to be ${rule}`)).toBe(true);
    expect(message.endsWith(`, got ${type}`)).toBe(true);
  });

  it.each([
    [{ syncPeriod: 5000 }, 'options.syncPeriod', '5000 (number)'],
    [{ rateLimiter: { qps: 1, burst: 1, bursts: 2 } }, 'rateLimiter.bursts', '2 (number)'],
  ])('refuses an unknown option: %j', (options, name, value) => {
    const refusal = { code: 'ERR_INVALID_OPTION', message: expect.stringContaining(`Expected \`${name}\` to be absent`) };
    expect(() => construct(options)).toThrow(expect.objectContaining(refusal));
    expect(() => construct(options)).toThrow(value);
  });

  it.each(['flush', 'stop'] as const)('are also checked for %s', async (operation) => {
    const manager = construct({ podClient: null });
    const options: object = { timeout: 5 };
    await expect(manager[operation](options)).rejects.toThrow(/Expected `options.timeout` to be absent: .*TimeoutMs|timeoutMs/);
    expect(manager.state).toBe('idle');
  });

  it.each([undefined, null, 7])('refuses %s instead of an options object', (options) => {
    expect(() => new StatusManager(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it.each([
    ['NaN', () => Number.NaN, 'NaN (number)'],
    ['a promise', async () => 1, '(object)'],
    ['a promise that rejects', () => Promise.reject(new Error('no')), '(object)'],
  ])('refuses a clock whose time is %s', (_, now, type) => {
    const clock = { now: now as never, setTimer: () => () => {} };
    expect(() => construct({ clock })).toThrow(`Expected \`clock.now()\` to be a finite number of milliseconds, got ${type}`);
  });

  it('fills in the defaults', () => {
    expect(resolveOptions(required)).toMatchObject({
      syncPeriodMs: 10_000,
      channelCapacity: 1000,
      concurrency: 16,
      requestTimeoutMs: 10_000,
      rateLimiter: undefined,
      patchFormat: 'strategic',
      fetchBeforePatch: 'when-unknown',
      terminateWhenReclaimed: true,
      ownedConditionTypes: new Set(),
      podSource: undefined,
      staleAfterMs: 300_000,
    });
  });

  it('accepts the smallest values, and a null pod client', () => {
    const smallest = { syncPeriodMs: 1, channelCapacity: 0, concurrency: 1, requestTimeoutMs: 1, staleAfterMs: 1 };
    expect(resolveOptions({ ...required, ...smallest, podClient: null, rateLimiter: { qps: 0.001, burst: 1 } })).toMatchObject({
      ...smallest,
      podClient: null,
      rateLimiter: { qps: 0.001, burst: 1 },
    });
  });

  it('shares nothing between two managers in one process', () => {
    const [a, b] = [construct({}), construct({})];
    a.setPodStatus({ metadata: { uid: 'u', name: 'n', namespace: 'ns' } }, { phase: 'Running' });
    expect(a.getPodStatus('u')?.phase).toBe('Running');
    expect(b.getPodStatus('u')).toBeUndefined();
  });
});
