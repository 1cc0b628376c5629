import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { PodResolver, type Resolution } from '../../../../src/node/provider/pod-resolver.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';

let server: InMemoryApiServer;
let transport: KubeTransport;
let resolver: PodResolver;
beforeEach(async () => {
  server = await InMemoryApiServer.start();
  transport = new KubeTransport(server.kubeConfig());
  resolver = new PodResolver({ transport, logger: null });
});
afterEach(async () => {
  await resolver.stop();
  await transport.close();
  await server.stop();
});

const { signal } = new AbortController();

function makeSecret(name: string, data: Readonly<Record<string, string>>): void {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  server.objects(resources.secrets).create({ metadata: { name, namespace: 'default' }, data: Object.fromEntries(encoded) });
}

/** A secret of 840 KiB, in values that Linux takes. */
const large = (): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 7 }, (_, key) => [`K${key}`, 'x'.repeat(120 * 1024)]));

function podOf(name: string, count: number, container: object, spec: object = {}): Pod {
  const containers = Array.from({ length: count }, (_, index) => ({ name: `c${index}`, image: 'app:1', ...container }));
  return buildPod({ metadata: { name, uid: name }, spec: { containers, ...spec } });
}

async function resolve(pod: Pod): Promise<Resolution> {
  resolver.register(pod);
  return resolver.resolve(pod, [], signal);
}

const wordsOf = (resolution: Resolution): string => ('held' in resolution ? resolution.held.message : '');

describe('what is resolved', () => {
  it('is bounded for one pod, however often its containers name one secret, and costs no other pod anything', async () => {
    makeSecret('large', large());
    makeSecret('small', { key: 'value' });
    const envFrom = [{ secretRef: { name: 'large' } }];
    const hostile = resolve(podOf('hostile', 40, { envFrom }));
    const small = await resolve(podOf('small', 1, { envFrom: [{ secretRef: { name: 'small' } }] }));
    expect('pod' in small && small.pod.spec.containers[0]?.env).toContainEqual({ name: 'key', value: 'value' });
    expect(wordsOf(await hostile)).toMatch(
      /^the environment of container c\d+ could not be made: the values and files that pod default\/hostile has in memory take \d+ bytes, more than a provider node hands over with one pod, 16777216 bytes\. Let the pod refer to less$/,
    );
    expect('pod' in (await resolve(podOf('allowed', 15, { envFrom })))).toBe(true);
  });

  it('counts until it is released, over all pods, but a megabyte of each', async () => {
    makeSecret('large', large());
    const envFrom = [{ secretRef: { name: 'large' } }];
    const resolutions: Resolution[] = [];
    for (let index = 0; index < 24; index += 1) resolutions.push(await resolve(podOf(`pod-${index}`, 14, { envFrom })));
    const held = resolutions.filter((resolution) => 'held' in resolution);
    expect(held.length).toBeGreaterThan(0);
    expect(wordsOf(held[0] as Resolution)).toContain('more than a provider node hands over at once, 268435456 bytes');
    expect('pod' in (await resolve(podOf('modest', 1, { envFrom })))).toBe(true);
    for (const resolution of resolutions) if ('pod' in resolution) resolution.release();
    expect('pod' in (await resolve(podOf('later', 14, { envFrom })))).toBe(true);
  });

  it('counts each time that it is resolved for one pod, until that one is released', async () => {
    makeSecret('large', large());
    const pod = podOf('web', 14, { envFrom: [{ secretRef: { name: 'large' } }] });
    const resolutions: Resolution[] = [];
    const again = async (): Promise<boolean> => {
      const resolution = await resolve(pod);
      if ('pod' in resolution) resolutions.push(resolution);
      return 'pod' in resolution;
    };
    while (resolutions.length < 24 && (await again()));
    expect(resolutions.length).toBe(22);
    const [first] = resolutions;
    if (first !== undefined && 'pod' in first) {
      first.release();
      first.release();
    }
    expect([await again(), await again()]).toEqual([true, false]);
  });

  it('is made anew where the variables had to wait for their turn: nothing is kept until then', async () => {
    makeSecret('large', large());
    let calls = 0;
    const hostIPs = (): string[] => {
      calls += 1;
      return [`10.0.0.${calls}`];
    };
    await using own = new PodResolver({ transport, hostIPs, logger: null });
    const env = [{ name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }];
    const containers = [
      { name: 'small', image: 'app:1', env },
      { name: 'large', image: 'app:1', envFrom: [{ secretRef: { name: 'large' } }] },
    ];
    const pod = podOf('web', 0, {}, { containers });
    own.register(pod);
    const resolution = await own.resolve(pod, [], signal);
    const given = 'pod' in resolution ? resolution.pod.spec.containers : [];
    expect(given[0]?.env).toContainEqual({ name: 'HOST', value: '10.0.0.2' });
    expect(given[1]?.env?.some(({ name }) => name === 'K6')).toBe(true);
  });

  it('is that of some containers alone, where only they are asked for, and what others lack holds nothing back', async () => {
    makeSecret('db', { key: 'value' });
    const env = (name: string) => [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'key' } } }];
    const containers = [
      { name: 'good', image: 'app:1', env: env('db') },
      { name: 'bad', image: 'app:1', env: env('none') },
    ];
    const pod = podOf('web', 0, {}, { containers });
    resolver.register(pod);
    const good = await resolver.resolve(pod, [], signal, { containers: ['good'] });
    const [first, second] = 'pod' in good ? good.pod.spec.containers : [];
    expect(first?.env).toContainEqual({ name: 'A', value: 'value' });
    expect(second?.env).toEqual(env('none'));
    expect(wordsOf(await resolver.resolve(pod, [], signal, { containers: ['bad'] }))).toContain('secret "none" not found');
    expect('pod' in (await resolver.resolve(pod, [], signal, { containers: [] }))).toBe(true);
  });

  it('needs no services where only files are asked for', async () => {
    server.fail({ resource: 'services', fault: { kind: 'hang' }, times: 1e9 });
    const pod = podOf('web', 1, {});
    resolver.register(pod);
    expect('pod' in (await resolver.resolve(pod, [], signal, { containers: [] }))).toBe(true);
    expect(server.requests.some(({ resource }) => resource === 'services')).toBe(false);
  });

  it('reads each object once for a pod, however many containers name it', async () => {
    makeSecret('shared', { key: 'value' });
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'shared', key: 'key' } } }];
    const resolution = await resolve(podOf('web', 20, { env }));
    expect(
      'pod' in resolution && resolution.pod.spec.containers.every((one) => one.env?.some(({ value }) => value === 'value')),
    ).toBe(true);
    const asked = server.requests.filter(({ resource }) => resource === 'secrets');
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it('waits for services that are listed late', async () => {
    server.fail({ resource: 'services', fault: { kind: 'latency', ms: 1500 }, times: 1 });
    expect('pod' in (await resolve(podOf('patient', 1, {})))).toBe(true);
  });

  it('leaves no watch behind once the pod is unregistered', async () => {
    makeSecret('watched', { key: 'value' });
    const pod = podOf('web', 1, { envFrom: [{ secretRef: { name: 'watched' } }] });
    const resolution = await resolve(pod);
    if ('pod' in resolution) resolution.release();
    resolver.unregister(pod);
    await resolver.stop();
    expect(await resolver.resolve(pod, [], signal)).toMatchObject({ held: { kind: expect.any(String) } });
  });

  it('takes no pod once it was stopped, also when it had none before', async () => {
    await resolver.stop();
    expect(() => resolver.register(podOf('late', 1, {}))).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('rejects with the reason of its signal, while a read hangs', async () => {
    server.fail({ resource: 'secrets', fault: { kind: 'hang' }, times: 1e9 });
    const ending = new AbortController();
    const pod = podOf('web', 1, { envFrom: [{ secretRef: { name: 'hangs' } }] });
    resolver.register(pod);
    const resolution = resolver.resolve(pod, [], ending.signal);
    const reason = new Error('the pod is to end');
    ending.abort(reason);
    await expect(resolution).rejects.toBe(reason);
  });

  it('names the volume, and shows only files of volumes that a container mounts', async () => {
    const volumes = [{ name: 'keys', secret: { secretName: 'none' } }];
    expect('pod' in (await resolve(podOf('unmounted', 1, {}, { volumes })))).toBe(true);
    const mounted = await resolve(podOf('mounted', 1, { volumeMounts: [{ name: 'keys', mountPath: '/k' }] }, { volumes }));
    expect(wordsOf(mounted)).toBe(
      'the volumes of the pod could not be made: MountVolume.SetUp failed for volume "keys" : secret "none" not found',
    );
  });

  it('reads variables of a file of a volume', async () => {
    server
      .objects(resources.configMaps)
      .create({ metadata: { name: 'vars', namespace: 'default' }, data: { 'app.env': "MODE='dark'\nSIZE='4'\n" } });
    const env = [{ name: 'MODE', valueFrom: { fileKeyRef: { volumeName: 'vars', path: 'app.env', key: 'MODE' } } }];
    const volumes = [{ name: 'vars', configMap: { name: 'vars' } }];
    const resolution = await resolve(podOf('web', 1, { env, volumeMounts: [{ name: 'vars', mountPath: '/v' }] }, { volumes }));
    expect('pod' in resolution && resolution.pod.spec.containers[0]?.env).toContainEqual({ name: 'MODE', value: 'dark' });
  });

  it('refuses options that are none', () => {
    const given = { transport, hostIPs: '10.0.0.1' } as never;
    expect(() => new PodResolver(given)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => new PodResolver({} as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});
