import { BasicPodManager, type PodStatus, StatusManager, type WirePod } from '../../../src/index.ts';
import { buildPod, FakePodClient, PodStore } from '../../../src/testing.ts';

/** A manager over pods in memory, with the machine's clock and no network: any growth is the manager's. */
export class LoadAgent {
  readonly store = new PodStore({ validate: false, fillIns: false, historySize: 1 });
  readonly podManager = new BasicPodManager();
  readonly client = new FakePodClient({ store: this.store });
  readonly manager: StatusManager;
  readonly #pods: WirePod[] = [];

  constructor() {
    const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
    this.manager = new StatusManager({ logger: null, podClient: this.client, podManager: this.podManager, podDeletionSafety });
    this.manager.start();
  }

  get pods(): readonly WirePod[] {
    return this.#pods;
  }

  addPods(count: number, prefix: string): void {
    for (let i = 0; i < count; i++) {
      const metadata = { name: `${prefix}${i}`, namespace: 'load', uid: `${prefix}${i}` };
      const pod = this.store.put(buildPod({ metadata, spec: { nodeName: 'n', containers: [{ name: 'app', image: 'i' }] } }));
      this.podManager.addPod(pod);
      this.#pods.push(pod);
    }
  }

  /** Removes every pod from the apiserver, the pod manager and the manager. */
  removePods(): void {
    for (const pod of this.#pods.splice(0)) {
      this.store.remove('load', pod.metadata?.name ?? '');
      this.podManager.removePod(pod);
    }
    this.manager.removeOrphanedStatuses(new Set());
  }

  set(pod: WirePod, mark: number): void {
    this.manager.setPodStatus(pod, status(mark));
  }

  /** The names of pods whose status on the server is not the last one set. */
  outOfStep(): string[] {
    return this.#pods.flatMap(({ metadata: { name = '', uid = '' } = {} }) => {
      const server = this.store.get('load', name).status?.message;
      return server === this.manager.getPodStatus(uid)?.message ? [] : [name];
    });
  }

  async stop(): Promise<void> {
    await this.manager.flush();
    await this.manager.stop();
  }
}

function status(mark: number): PodStatus {
  const ready = mark % 2 === 0;
  return {
    phase: 'Running',
    message: `mark ${mark}`,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    containerStatuses: [{ name: 'app', image: 'i', imageID: 'i', ready, restartCount: 0, state: { running: {} } }],
  };
}
