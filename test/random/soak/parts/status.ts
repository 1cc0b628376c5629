import { createDebugHandler } from '../../../../src/debug.ts';
import { BasicPodManager, type PodStatus, StatusManager } from '../../../../src/index.ts';
import { buildPod, FakePodClient, PodStore } from '../../../../src/testing.ts';
import { namespace, nodeName, type SoakPart } from '../soak-world.ts';

const podsARound = 20;
const updatesAPod = 10;

/** A status manager with its debug handler and a metrics sink; pods come, change, fail to be written, and go. */
export const statusPart: SoakPart = {
  name: 'status',
  async open(world) {
    const store = new PodStore({ validate: false, fillIns: false, historySize: 1 });
    const podClient = new FakePodClient({ store });
    const podManager = new BasicPodManager();
    const podDeletionSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true };
    const metrics = { increment: () => {}, observe: () => {}, set: () => {}, remove: () => {} };
    const options = { podClient, podManager, podDeletionSafety, metrics, clock: world.partClock, logger: null };
    const manager = new StatusManager({ ...options, random: () => world.prng.next() });
    const debug = createDebugHandler({ manager, clock: world.partClock, history: { bytes: 50_000 } });
    manager.start();
    // some pods stay, and change for ever
    const staying = Array.from({ length: 5 }, (_, i) => store.put(pod(`stays-${i}`)));
    for (const one of staying) podManager.addPod(one);
    return {
      async churn(round) {
        const pods = Array.from({ length: podsARound }, (_, i) => world.expectGone(store.put(pod(`pod-${round}-${i}`))));
        for (const one of pods) podManager.addPod(one);
        for (let mark = 0; mark < updatesAPod; mark++) {
          if (round % 3 === 0) podClient.failNext('patch', { code: world.prng.pick([409, 422, 500, 503]) ?? 500, times: 5 });
          for (const one of [...pods, ...staying]) {
            manager.setPodStatus(one, status(mark + round));
            manager.setContainerReadiness(one.metadata?.uid ?? '', 'fake://c', mark % 2 === 0);
          }
          await world.pass(500);
        }
        for (const one of pods) {
          store.remove(namespace, one.metadata?.name ?? '');
          podManager.removePod(one);
        }
        manager.removeOrphanedStatuses(new Set(staying.map(({ metadata }) => metadata?.uid ?? '')));
        await world.pass(300_000);
        podClient.clearActions();
        return (podsARound + staying.length) * updatesAPod;
      },
      async stop() {
        debug.close();
        await world.awaited(manager.stop());
      },
    };
  },
};

function pod(name: string): ReturnType<typeof buildPod> {
  const spec = { nodeName, containers: [{ name: 'app', image: 'i' }] };
  return buildPod({ metadata: { name, namespace, uid: name, annotations: { text: 'x'.repeat(500) } }, spec });
}

function status(mark: number): PodStatus {
  const containerStatuses = [
    { name: 'app', image: 'i', imageID: 'i', containerID: 'fake://c', ready: false, restartCount: 0, state: { running: {} } },
  ];
  return { phase: 'Running', message: `mark ${mark}`, containerStatuses };
}
