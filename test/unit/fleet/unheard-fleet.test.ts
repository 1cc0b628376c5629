import { expect, it, onTestFinished } from 'vitest';
import { type FleetSnapshot, NodeFleet } from '../../../src/fleet.ts';
import { KubeTransport } from '../../../src/index.ts';
import { MetricsRecorder } from '../../support/metrics-recorder.ts';
import { until } from '../../support/until.ts';
import { world } from './fleet-of-cloud.ts';

const members = 'pod_status_manager_fleet_members';
const alive = ({ members }: FleetSnapshot): string[] => members.filter(({ isAlive }) => isAlive).map(({ id }) => id);

it.each([
  'refuses connections',
  'answers nothing more',
])('a member whose apiserver %s says of no other that it has gone', async (how) => {
  const { server, member } = await world();
  const own = new KubeTransport(server.kubeConfig());
  onTestFinished(() => own.close());
  let isSilent = false;
  const transport: Pick<KubeTransport, 'request' | 'stream'> = {
    request: (request) => (isSilent ? new Promise(() => {}) : own.request(request)),
    stream: (stream) => own.stream(stream),
  };
  const metrics = new MetricsRecorder();
  const a = await member('a', { transport, metrics });
  await member('b', { transport });
  await until(() => a.snapshot().shards.some(({ owner }) => owner === 'b'));
  expect([metrics.collect().value(members), alive(a.snapshot())]).toEqual([2, ['a', 'b']]);
  if (how === 'refuses connections') await server.stop();
  else isSilent = true;
  // by then every Lease has run out
  await until(() => a.snapshot().shards.every(({ owner }) => owner === undefined));
  expect([metrics.collect().value(members), alive(a.snapshot())]).toEqual([2, ['a', 'b']]);
});

it('a member that hears of the others counts one that stops no more, and one that has heard of nobody counts none', async () => {
  const { server, member } = await world();
  const [metrics, ofOther] = [new MetricsRecorder(), new MetricsRecorder()];
  const a = await member('a', { metrics });
  const b = await member('b');
  await until(() => alive(a.snapshot()).length === 2);
  await b.stop();
  await until(() => alive(a.snapshot()).length === 1);
  expect(metrics.collect().value(members)).toBe(1);
  await server.stop();
  const c = new NodeFleet({
    kubeConfig: server.kubeConfig(),
    name: 'edge',
    nodes: [],
    provider: () => ({}) as never,
    logger: null,
    metrics: ofOther,
  });
  const started = c.start().catch(() => {});
  await until(() => c.snapshot().unheardSince !== undefined);
  expect(ofOther.collect().value(members)).toBeUndefined();
  await c.stop();
  await started;
});
