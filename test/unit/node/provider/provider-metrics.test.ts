import { expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { ProviderMetrics } from '../../../../src/node/provider/provider-metrics.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';

it('counts a call that is given up once, when it is given up, however it settles later', async () => {
  const metrics = new MetricsRecorder();
  const clock = new FakeClock();
  const providerMetrics = new ProviderMetrics({ metrics: metricsOption(metrics), clock });
  const controller = new AbortController();
  const calls = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const answers = calls.map(({ promise }) => providerMetrics.call('createPod', controller.signal, () => promise));
  const settled = Promise.allSettled(answers.slice(0, 2));
  await clock.advance(2_000);
  controller.abort();
  await settle();
  const counted = (): unknown => [
    metrics.nonZero('pod_status_manager_provider_calls_total'),
    metrics.values('pod_status_manager_provider_call_duration_seconds', { method: 'createPod' }),
  ];
  const once = [{ 'createPod,aborted': 3 }, [2, 2, 2]];
  expect(counted()).toEqual(once);
  calls[0].resolve();
  calls[1].reject(new Error('too late'));
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(counted()).toEqual(once);
});
