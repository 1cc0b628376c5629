import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { node, pod, schedulerWorld } from '../scheduler-world.ts';

type Spec = NonNullable<WirePod['spec']>;

/** Which of the pods a scheduler in memory binds, in turn, on a node of 4 CPUs. */
async function bound(...pods: readonly WirePod[]): Promise<string[]> {
  const { scheduler, bindings } = schedulerWorld();
  scheduler.setNode(node('n'));
  for (const one of pods) scheduler.setPod(one);
  scheduler.start();
  await scheduler.flush();
  await scheduler.stop();
  return bindings.map(({ name }) => name);
}

/** A pod with one container, which is `container` beside its name and image. */
function podOf(name: string, container: object, spec: object = {}): WirePod {
  return pod(name, '0', { ...spec, containers: [{ name: 'app', image: 'app:1', ...container }] } as Spec);
}

describe('a pod that no server has seen, in a scheduler in memory', () => {
  it('without the name of a scheduler is one of the default', async () => {
    expect(await bound(pod('a', '1', { schedulerName: undefined } as never), pod('b', '1', { schedulerName: '' }))).toEqual([
      'a',
      'b',
    ]);
  });

  it('requests what is its limit, where it requests nothing', async () => {
    const limited = (name: string, requests?: object) =>
      podOf(name, { resources: { limits: { cpu: '4' }, ...(requests && { requests }) } });
    expect(await bound(limited('a'), limited('b'))).toEqual(['a']);
    expect(await bound(limited('a', { cpu: '1' }), limited('b', { cpu: '3' }), limited('c', { cpu: '1' }))).toEqual(['a', 'b']);
    expect(await bound(limited('a', { memory: '1Gi' }), limited('b', { memory: '1Gi' }))).toEqual(['a']);
  });

  it('requests the limits of its init containers', async () => {
    const initContainers = [{ name: 'init', image: 'app:1', resources: { limits: { cpu: '5' } } }];
    expect(await bound(podOf('a', {}, { initContainers }))).toEqual([]);
  });

  it('takes the ports of the node, in the network of the host', async () => {
    const ports = [{ containerPort: 80 }];
    const hosted = (name: string, more: object = {}) => podOf(name, { ports: [{ ...ports[0], ...more }] }, { hostNetwork: true });
    expect(await bound(hosted('a'), hosted('b'))).toEqual(['a']);
    expect(await bound(hosted('a', { hostPort: 0 }), hosted('b', { hostPort: 80 }))).toEqual(['a']);
    expect(await bound(podOf('a', { ports }), podOf('b', { ports }))).toEqual(['a', 'b']);
    const initContainers = [{ name: 'side', image: 'app:1', restartPolicy: 'Always', ports }];
    expect(await bound(hosted('a'), podOf('b', {}, { hostNetwork: true, initContainers }))).toEqual(['a']);
  });

  it('with a member that is null counts as one without it', async () => {
    const web = pod('a');
    const nulls = { metadata: { ...web.metadata, deletionTimestamp: null, labels: null }, status: null };
    const spec = { ...web.spec, initContainers: null, affinity: null, overhead: null, nodeSelector: null, hostNetwork: null };
    expect(await bound({ ...web, ...nulls, spec } as never)).toEqual(['a']);
  });

  describe('with keys of labels in its terms', () => {
    const labelled = (version: string | undefined, spec: Partial<Spec> = {}): WirePod => {
      const name = `web-${version}`;
      const labels = { app: 'web', ...(version !== undefined && { hash: version }) };
      const made = pod(name, '1', spec);
      return { ...made, metadata: { ...made.metadata, labels } } as WirePod;
    };
    const term = (more: object) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } }, ...more });
    const apart = (more: object) => ({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(more)] } },
    });
    const together = (more: object) => ({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(more)] } },
    });
    const place = async (spec: Partial<Spec>, version: string | undefined = 'v2'): Promise<string[]> => {
      const { scheduler, bindings } = schedulerWorld();
      scheduler.setNode({ ...node('n'), metadata: { name: 'n', labels: { zone: 'z' } } });
      scheduler.setPod(labelled('v1', { nodeName: 'n' }));
      scheduler.setPod(labelled(version, spec));
      scheduler.start();
      await scheduler.flush();
      await scheduler.stop();
      return bindings.map(({ name }) => name);
    };

    it('keeps away from pods of its own value only', async () => {
      expect(await place(apart({}))).toEqual([]);
      expect(await place(apart({ matchLabelKeys: ['hash'] }))).toEqual(['web-v2']);
      expect(await place(apart({ mismatchLabelKeys: ['hash'] }))).toEqual([]);
    });

    it('joins pods of its own value, or of another one, as the keys say', async () => {
      const nodeOf = async (spec: Partial<Spec>): Promise<string | undefined> => {
        const { scheduler, bindings } = schedulerWorld();
        for (const [name, version] of [
          ['n1', 'v1'],
          ['n2', 'v2'],
        ] as const) {
          scheduler.setNode({ ...node(name), metadata: { name, labels: { zone: name } } });
          const { metadata, ...rest } = labelled(version, { nodeName: name });
          scheduler.setPod({ ...rest, metadata: { ...metadata, name, uid: name } } as WirePod);
        }
        scheduler.setPod(labelled('v2', spec));
        scheduler.start();
        await scheduler.flush();
        await scheduler.stop();
        return bindings[0]?.nodeName;
      };
      expect(await nodeOf(together({ matchLabelKeys: ['hash'] }))).toBe('n2');
      expect(await nodeOf(together({ mismatchLabelKeys: ['hash'] }))).toBe('n1');
      const weighted = (more: object) => ({
        affinity: {
          podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term(more) }] },
        },
      });
      expect(await nodeOf(weighted({ matchLabelKeys: ['hash'] }))).toBe('n2');
      expect(await nodeOf(weighted({ mismatchLabelKeys: ['hash'] }))).toBe('n1');
    });

    it('is not changed by a key that the pod has no label of, and none where there is no selector', async () => {
      expect(await place(apart({ matchLabelKeys: ['other'] }))).toEqual([]);
      expect(await place(apart({ labelSelector: undefined, matchLabelKeys: ['hash'] }))).toEqual(['web-v2']);
    });

    it('stays as it is where a server has done it before', async () => {
      const { scheduler, bindings } = schedulerWorld();
      const stored = apart({
        matchLabelKeys: ['hash'],
        labelSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'hash', operator: 'In', values: ['v2'] }] },
      });
      scheduler.setNode({ ...node('n'), metadata: { name: 'n', labels: { zone: 'z' } } });
      scheduler.setPod(labelled('v2', stored));
      scheduler.start();
      await scheduler.flush();
      await scheduler.stop();
      expect(bindings).toHaveLength(1);
    });
  });
});

describe('a scheduler in memory refuses', () => {
  const web = pod('web');
  const container = (resources: object) => podOf('web', { resources });
  it.each<[string, unknown]>([
    ['pod', undefined],
    ['pod', []],
    ['pod.metadata', {}],
    ['pod.metadata.name', { ...web, metadata: { uid: 'u' } }],
    ['pod.metadata.uid', { ...web, metadata: { name: 'web' } }],
    ['pod.metadata.uid', { ...web, metadata: { name: 'web', uid: 7 } }],
    ['pod.spec', { ...web, spec: 'x' }],
    ['pod.spec.containers', { ...web, spec: { containers: {} } }],
    ['pod.spec.volumes', { ...web, spec: { containers: [], volumes: 'x' } }],
    ['pod.spec.volumes[0]', { ...web, spec: { containers: [], volumes: [null] } }],
    ['pod.spec.containers[0]', { ...web, spec: { containers: ['x'] } }],
    ['pod.spec.initContainers', { ...web, spec: { ...web.spec, initContainers: 'x' } }],
    ['pod.spec.containers[0].ports', podOf('web', { ports: 80 })],
    ['pod.spec.containers[0].resources.requests.cpu', container({ requests: { cpu: '-4' } })],
    ['pod.spec.containers[0].resources.limits.cpu', container({ limits: { cpu: '-1m' } })],
    ['pod.spec.containers[0].resources.requests.cpu', container({ requests: { cpu: 4 } })],
    ['pod.spec.containers[0].resources.requests', container({ requests: 'x' })],
    ['pod.spec.overhead.cpu', podOf('web', {}, { overhead: { cpu: '-1' } })],
    ['pod.spec.resources.requests.cpu', podOf('web', {}, { resources: { requests: { cpu: '-1' } } })],
  ])('%s', async (path, given) => {
    const { scheduler } = schedulerWorld();
    const refusal = { code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(`\`${path}\``) };
    expect(() => scheduler.setPod(given as never)).toThrow(expect.objectContaining(refusal));
    expect(scheduler.stats()).toMatchObject({ active: 0, backoff: 0, unschedulable: 0, pods: 0 });
    await scheduler.stop();
  });

  it.each<[string, unknown]>([
    ['node', null],
    ['node.metadata', {}],
    ['node.metadata.name', { metadata: {} }],
  ])('%s', async (path, given) => {
    const { scheduler } = schedulerWorld();
    const refusal = { code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(path) };
    expect(() => scheduler.setNode(given as never)).toThrow(expect.objectContaining(refusal));
    await scheduler.stop();
  });
});
