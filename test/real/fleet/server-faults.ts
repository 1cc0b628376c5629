import { pause } from '../../random/faults/pause.ts';
import type { FaultScene, FleetFault } from './member-faults.ts';

/** How long a server stands still, or is away. */
const [leastMs, mostMs] = [500, 5000];

/** Faults of the servers and of the cloud. Only one of them happens at a time. */
export const serverFaults: Readonly<Record<string, FleetFault>> = {
  'first kube-apiserver killed': {
    weight: 2,
    run: async (scene) => {
      const { controlPlane } = scene.world.servers;
      await controlPlane.killApiServer();
      await awhile(scene);
      await controlPlane.startApiServer();
      return true;
    },
  },
  'first kube-apiserver paused': {
    weight: 1,
    run: async (scene) => {
      const { controlPlane } = scene.world.servers;
      controlPlane.pauseApiServer();
      await awhile(scene);
      controlPlane.resumeApiServer();
      return true;
    },
  },
  'second kube-apiserver killed': {
    weight: 1,
    run: async (scene) => {
      const { second } = scene.world.servers;
      await second?.server.kill();
      await awhile(scene);
      await second?.server.start();
      return second !== undefined;
    },
  },
  'second kube-apiserver paused': {
    weight: 1,
    run: async (scene) => {
      const { second } = scene.world.servers;
      second?.server.pause();
      await awhile(scene);
      second?.server.resume();
      return second !== undefined;
    },
  },
  'second kube-apiserver lags': {
    weight: 2,
    run: async (scene) => {
      const { second } = scene.world.servers;
      second?.etcdRelay.hold();
      await awhile(scene);
      second?.etcdRelay.release();
      return second !== undefined;
    },
  },
  'etcd killed': {
    weight: 1,
    run: async (scene) => {
      const { controlPlane } = scene.world.servers;
      await controlPlane.killEtcd();
      await awhile(scene);
      await controlPlane.startEtcd();
      return true;
    },
  },
  'etcd paused': {
    weight: 1,
    run: async (scene) => {
      const { controlPlane } = scene.world.servers;
      controlPlane.pauseEtcd();
      await awhile(scene);
      controlPlane.resumeEtcd();
      return true;
    },
  },
  'cloud away': {
    weight: 1,
    run: async (scene) => {
      const { cloud } = scene.world;
      cloud.isAway = true;
      await awhile(scene);
      cloud.isAway = false;
      return true;
    },
  },
  'answers of the cloud lost': {
    weight: 1,
    run: async (scene) => {
      const { cloud } = scene.world;
      cloud.losesAnswers = true;
      await awhile(scene);
      cloud.losesAnswers = false;
      return true;
    },
  },
  'members moved to one kube-apiserver': {
    weight: 1,
    run: async ({ world, prng }) => {
      const target = prng.pick([0, 1, undefined]);
      for (const { relay } of world.running) relay.switchTo(target);
      return world.servers.second !== undefined;
    },
  },
};

function awhile({ prng }: FaultScene): Promise<void> {
  return pause(prng.between(leastMs, mostMs));
}
