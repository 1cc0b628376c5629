import type { WireNode } from '../../../../src/api/json/types.ts';
import type { WirePod } from '../../../../src/index.ts';
import { ClusterScheduler, Scheduler } from '../../../../src/scheduler.ts';
import { barePod } from '../../../support/pods.ts';
import { namespace, type SoakPart, type SoakWorld } from '../soak-world.ts';
import { createPods, removePods } from './pods.ts';

const podsARound = 20;

/** A scheduler in memory: pods and nodes come and go, some bindings fail, some pods never fit. */
export const schedulerPart: SoakPart = {
  name: 'scheduler',
  async open(world) {
    const bind = async (pod: WirePod): Promise<void> => {
      world.expectGone(pod);
      if (world.prng.chance(0.1)) throw new Error('503: later');
    };
    const scheduler = new Scheduler({
      client: { bind } as never,
      clock: world.partClock,
      random: () => world.prng.next(),
      logger: null,
    });
    scheduler.start();
    for (let i = 0; i < 5; i++) scheduler.setNode(node(`stays-${i}`));
    return {
      async churn(round) {
        for (let i = 0; i < 5; i++) scheduler.setNode(node(`node-${round}-${i}`));
        const pods = Array.from({ length: podsARound }, (_, i) => world.expectGone(pod(world, round, i)));
        for (const one of pods) scheduler.setPod(one);
        await world.pass(60_000);
        for (const { metadata } of pods) scheduler.deletePod(metadata?.uid ?? '');
        for (let i = 0; i < 5; i++) scheduler.deleteNode(`node-${round}-${i}`);
        await world.pass(600_000);
        return podsARound * 2 + 10;
      },
      async stop() {
        await world.awaited(scheduler.stop());
      },
    };
  },
};

/** A scheduler of a cluster, with its reflectors, its Lease, its events and its bindings. */
export const clusterSchedulerPart: SoakPart = {
  name: 'cluster-scheduler',
  warmUp: 9000,
  async open(world) {
    const options = { transport: world.kubeTransport, clock: world.partClock, random: () => world.prng.next(), logger: null };
    const scheduler = new ClusterScheduler({ ...options, identity: 'soak' });
    const nodes = world.store('nodes');
    for (let i = 0; i < 3; i++) {
      const made = nodes.create(node(`stays-${i}`) as never);
      nodes.update({ ...made, spec: {} } as never);
    }
    const started = scheduler.start();
    await world.pass(60_000);
    await started;
    return {
      async churn(round) {
        const asked = world.prng.chance(0.3) ? { resources: { requests: { cpu: '1000' } } } : {};
        const containers = [{ name: 'app', image: 'app:1', ...asked }];
        const pods = createPods(world, round, podsARound, { nodeName: undefined, containers });
        if (round % 4 === 0) await world.storm(30_000);
        await world.pass(60_000);
        removePods(world, pods);
        await world.pass(400_000);
        return podsARound * 3;
      },
      async stop() {
        await world.awaited(scheduler.stop());
      },
    };
  },
};

function node(name: string): WireNode {
  return { metadata: { name }, status: { allocatable: { cpu: '40', memory: '80Gi', pods: '100' } } };
}

function pod(world: SoakWorld, round: number, i: number): WirePod {
  const cpu = world.prng.chance(0.2) ? '1000' : '1';
  const metadata = { name: `pod-${round}-${i}`, namespace, uid: `${round}-${i}`, labels: { app: `a${i % 3}` } };
  const spread = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: 'a1' } },
  };
  const containers = [{ name: 'app', resources: { requests: { cpu } } }];
  return barePod({ metadata, spec: { schedulerName: 'default-scheduler', containers, topologySpreadConstraints: [spread] } });
}
