import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../src/base/logging/logger.ts';
import { deleting, Harness, testPod } from './status-harness.ts';

const uid = '12345678';

function debugLog(isEnabled = true) {
  const lines: { readonly message: string; readonly [field: string]: unknown }[] = [];
  const logger: Logger = {
    debug: (fields, message) => void lines.push({ message, ...fields }),
    ...{ info() {}, warn() {}, error() {} },
    isLevelEnabled: (level) => isEnabled || level !== 'debug',
  };
  /** The lines with this message since the last call. */
  const take = (message: string) => lines.splice(0).filter((line) => line.message === message);
  return { lines, logger, take };
}

const sent = 'a pod is to be sent';

describe('the debug lines of a status manager', () => {
  it('say which members of a status have changed', async () => {
    const { logger, take } = debugLog();
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running', message: 'one' });
    expect(take('the pod has a new version of its status')).toEqual([
      expect.objectContaining({
        podUID: uid,
        version: 1,
        phase: 'Running',
        changed: expect.arrayContaining(['/message', '/phase']),
      }),
    ]);
    await h.set(pod, { phase: 'Running', message: 'two' });
    expect(take('the pod has a new version of its status')).toEqual([
      expect.objectContaining({ version: 2, changed: ['/message'] }),
    ]);
    await h.set(pod, { phase: 'Running', message: 'two' });
    expect(take('the pod has a new version of its status')).toEqual([]);
  });

  it('say why a pod is sent: its first status, a change, a failure, a call, a foreign write, a deletion', async () => {
    const { logger, take } = debugLog();
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'one' });
    expect(take(sent)).toMatchObject([
      { podUID: uid, reason: 'it is the first status of the pod', version: 1, acknowledgedVersion: 0 },
    ]);
    await h.set(pod, { message: 'two' });
    expect(take(sent)).toMatchObject([{ reason: 'the status has changed', version: 2, acknowledgedVersion: 1, urgent: false }]);
    h.client.failNext('patch', { code: 503 });
    await h.set(pod, { message: 'three' });
    await h.clock.advance(10_000);
    expect(take(sent)).toMatchObject([{ reason: 'the status has changed' }, { reason: 'the last attempt failed' }]);
    h.manager.reconcile(uid);
    await h.calls();
    expect(take(sent)).toMatchObject([{ reason: 'reconcile() was called' }]);
    h.rival(pod, { message: 'theirs', reason: 'Theirs' });
    h.observe(pod);
    await h.calls();
    expect(take(sent)).toMatchObject([
      { reason: 'the API copy says something else than the acknowledged version', differs: ['/reason', '/message'] },
    ]);
    expect(h.apiStatus(pod).message).toBe('three');
  });

  it('say that a deletion is due', async () => {
    const { logger, take } = debugLog();
    const h = new Harness({ logger });
    const pod = h.publish(testPod({ metadata: deleting }));
    await h.set(pod, { phase: 'Running' });
    h.manager.terminatePod(pod);
    await h.calls();
    take(sent);
    h.safety.reclaimed = true;
    await h.batch();
    expect(take(sent).map(({ reason }) => reason)).toContain('the deletion is due');
  });

  it('say how long it took until the apiserver had a version', async () => {
    const { logger, take } = debugLog();
    const h = new Harness({ logger });
    await h.set(h.publish(testPod()), { message: 'one' });
    expect(take('the apiserver has the version')).toEqual([
      {
        message: 'the apiserver has the version',
        podUID: uid,
        podNamespace: 'new',
        podName: 'foo',
        version: 1,
        patched: true,
        sinceSetMs: 0,
      },
    ]);
  });

  it('are not computed where the logger drops them', async () => {
    const { logger, lines } = debugLog(false);
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'one' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    await h.calls();
    const computed = ['the pod has a new version of its status', sent];
    expect(lines.filter(({ message }) => computed.includes(message))).toEqual([]);
  });
});
