import { ApiServerPodSource, BasicPodManager, type Pod } from '../../../../src/index.ts';
import { MirrorPodClient, MirrorPodReconciler } from '../../../../src/mirror.ts';
import { ConfigMapManager, SecretManager } from '../../../../src/object-managers.ts';
import { Reflector, resources } from '../../../../src/reflector.ts';
import { buildStaticPod } from '../../../../src/testing.ts';
import { barePod } from '../../../support/pods.ts';
import { namespace, nodeName, type SoakPart, type SoakWorld } from '../soak-world.ts';
import { createPods, removePods } from './pods.ts';

const podsARound = 20;

/** The pods of a node and all nodes, listed and watched through every weather. */
export const sourcesPart: SoakPart = {
  name: 'sources',
  async open(world) {
    const { partClock: clock, transport } = world;
    const podManager = new BasicPodManager();
    const shared = { clock, logger: null, random: () => world.prng.next() };
    const source = new ApiServerPodSource({ ...shared, transport: world.kubeTransport, nodeName, podManager });
    const reflector = new Reflector({ ...shared, transport, resource: resources.configMaps });
    const started = [source.start(), reflector.start()];
    await world.pass(5000);
    await Promise.all(started);
    return {
      async churn(round) {
        const [pods, maps] = [createPods(world, round, podsARound), world.store('configmaps')];
        const made = pods.map(({ metadata }) =>
          maps.create({ metadata: { name: metadata?.name, namespace }, data: { a: 'b' } } as never),
        );
        if (round % 4 === 0) await world.storm(30_000);
        await world.pass(2000);
        for (const { metadata } of pods) {
          const known = podManager.getPodByName(namespace, metadata?.name ?? '');
          if (known !== undefined) world.expectGone(known);
        }
        removePods(world, pods);
        for (const map of made) world.remove('configmaps', map);
        await world.pass(10_000);
        return podsARound * 4;
      },
      async stop() {
        await world.awaited(Promise.all([source.stop(), reflector.stop()]));
      },
    };
  },
};

/** The secrets and config maps of pods that come and go, by watches and by a cache. */
export const objectsPart: SoakPart = {
  name: 'objects',
  async open(world) {
    const shared = { transport: world.transport, clock: world.partClock, logger: null, random: () => world.prng.next() };
    const secrets = new SecretManager(shared);
    const configMaps = new ConfigMapManager({ ...shared, strategy: 'cache', ttlMs: 5000 });
    return {
      async churn(round) {
        const pods = Array.from({ length: podsARound }, (_, i) => {
          const names = { secret: { secretName: `s-${round}-${i}` } };
          const volumes = [
            { name: 'a', ...names },
            { name: 'b', configMap: { name: `m-${round}-${i}` } },
          ];
          const metadata = { name: `pod-${round}-${i}`, namespace, uid: `${round}-${i}` };
          return world.expectGone(barePod({ metadata, spec: { volumes, containers: [{ name: 'app' }] } }));
        });
        const made = pods.map((_, i) => {
          const key = (letter: string): object => ({
            metadata: { name: `${letter}-${round}-${i}`, namespace },
            data: { a: 'YQ==' },
          });
          return [world.store('secrets').create(key('s') as never), world.store('configmaps').create(key('m') as never)] as const;
        });
        for (const pod of pods) {
          secrets.registerPod(pod);
          configMaps.registerPod(pod);
        }
        const reads = pods.flatMap((_, i) => [
          secrets.getSecret(namespace, `s-${round}-${i}`).catch(() => {}),
          configMaps.getConfigMap(namespace, `m-${round}-${i}`).catch(() => {}),
          secrets.getSecret(namespace, `missing-${round}-${i}`).catch(() => {}),
        ]);
        if (round % 4 === 0) await world.storm(20_000);
        await world.pass(30_000);
        await Promise.all(reads);
        for (const pod of pods) {
          secrets.unregisterPod(pod);
          configMaps.unregisterPod(pod);
        }
        for (const [secret, map] of made) {
          world.remove('secrets', secret);
          world.remove('configmaps', map);
        }
        await world.pass(60_000);
        return podsARound * 6;
      },
      async stop() {
        await world.awaited(Promise.all([secrets.stop(), configMaps.stop()]));
      },
    };
  },
};

/** Mirror pods of static pods that come and go. */
export const mirrorPart: SoakPart = {
  name: 'mirror',
  async open(world) {
    const { partClock: clock, transport } = world;
    const podManager = new BasicPodManager();
    const shared = { clock, logger: null, random: () => world.prng.next() };
    const podSource = new ApiServerPodSource({ ...shared, transport: world.kubeTransport, nodeName, podManager });
    const getNode = async (): Promise<object> => ({ metadata: { name: nodeName, uid: 'node-uid' } });
    const mirrorPodClient = new MirrorPodClient({ transport, nodeName, getNode: getNode as never, clock });
    const reconciler = new MirrorPodReconciler({ ...shared, podManager, mirrorPodClient, nodeName, podSource });
    const started = podSource.start();
    reconciler.start();
    await world.pass(5000);
    await started;
    return {
      async churn(round) {
        const statics = Array.from({ length: podsARound }, (_, i) => staticPod(world, `static-${round}-${i}`));
        for (const pod of statics) podManager.addPod(pod as never);
        if (round % 4 === 0) await world.storm(30_000);
        await world.pass(30_000);
        for (const pod of statics) podManager.removePod(pod as never);
        await world.pass(300_000);
        const left = world.store('pods').list();
        if (left.length > 0) throw new Error(`${left.length} mirror pods are left`);
        return podsARound * 2;
      },
      async stop() {
        await world.awaited(Promise.all([reconciler.stop(), podSource.stop()]));
      },
    };
  },
};

function staticPod(world: SoakWorld, name: string): Pod {
  const annotations = { 'kubernetes.io/config.hash': name };
  const metadata = { name: `${name}-${nodeName}`, namespace, uid: name, annotations };
  return world.expectGone(buildStaticPod({ metadata, spec: { nodeName } }));
}
