import { expect, it, onTestFinished } from 'vitest';
import { type KubeRequest, KubeTransport } from '../../../src/index.ts';
import type { PodProvider } from '../../../src/node.ts';
import { until } from '../../support/until.ts';
import { world } from './fleet-of-cloud.ts';

it('a provider that takes long to release a node at a hand-over is shown, and so is one that fails', async () => {
  const { server, cloud, member } = await world();
  const release = Promise.withResolvers<void>();
  const [own, held] = [new KubeTransport(server.kubeConfig()), Promise.withResolvers<void>()];
  onTestFinished(() => own.close());
  let isHeld = false;
  const transport: Pick<KubeTransport, 'request' | 'stream'> = {
    request: async (request: KubeRequest) => {
      // the last word of a node
      if (isHeld && request.path.includes('/kube-node-lease/')) await held.promise;
      return own.request(request);
    },
    stream: (stream) => own.stream(stream),
  };
  const provider = (): PodProvider => ({ ...cloud.provider(), release: () => release.promise });
  const a = await member('a', { transport, provider });
  await until(() => a.snapshot().nodeCounts.running === 4);
  expect(a.snapshot().nodes.map(({ releasingSince }) => releasingSince)).toEqual([undefined, undefined, undefined, undefined]);
  const b = await member('b');
  const releasing = (): string | undefined =>
    a.snapshot().nodes.find(({ releasingSince }) => releasingSince !== undefined)?.nodeName;
  await until(() => releasing() !== undefined);
  const nodeName = releasing() ?? '';
  const { state, why, problem } = a.explain(nodeName);
  expect([state, problem]).toEqual(['stopping', undefined]);
  expect(why).toMatch(/goes to member b\. Its provider has been releasing the pods for \d/);
  isHeld = true;
  release.reject(new Error('the lock is held'));
  const message = `node ${nodeName}: release() failed: the lock is held`;
  await until(() => a.snapshot().problems.some(({ kind }) => kind === 'release'));
  expect(a.snapshot().problems).toContainEqual(expect.objectContaining({ kind: 'release', message }));
  expect(a.explain(nodeName)).toMatchObject({ problem: { kind: 'release' }, releasingSince: undefined });
  held.resolve();
  await until(() => b.snapshot().nodeCounts.running > 0);
});
