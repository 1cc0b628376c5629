import type { WirePodStatus } from '../../../src/api/json/types.ts';
import { KubePodClient } from '../../../src/client/resources/kube-pod-client.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { pollUntil } from '../../support/poll-until.ts';
import type { TestServer } from '../../support/servers.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';
import { FaultProxy } from './fault-proxy.ts';
import { refusal } from './node-rows.ts';
import type { LogLine } from './stuck-node.ts';
import type { StuckRow } from './stuck-row.ts';

/** A way in which a pod of a status manager alone is stuck. */
export interface ManagerRow extends StuckRow {
  readonly arrange: (stuck: StuckManager) => Promise<void>;
}

/** A status manager on a real client, behind a proxy that refuses what a test says; its own time stands still. */
export class StuckManager implements AsyncDisposable {
  readonly logs: LogLine[] = [];
  readonly clock = new FakeClock();
  readonly podManager = new BasicPodManager();
  readonly safety = { running: true, reclaimed: false };
  readonly manager: StatusManager;
  readonly server: TestServer;
  readonly namespace: string;
  readonly proxy: FaultProxy;
  readonly #podClient: KubePodClient;

  private constructor(server: TestServer, namespace: string, proxy: FaultProxy) {
    this.server = server;
    this.namespace = namespace;
    this.proxy = proxy;
    this.#podClient = KubePodClient.fromKubeConfig(proxy.kubeConfig());
    const note = (fields: object, message: string): void => void this.logs.push({ message, fields: { ...fields } });
    this.manager = new StatusManager({
      podClient: this.#podClient,
      podManager: this.podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: () => this.safety.running,
        podResourcesAreReclaimed: () => this.safety.reclaimed,
      },
      clock: this.clock,
      requestTimeoutMs: 60_000,
      concurrency: 1,
      logger: { debug() {}, info() {}, warn: note, error: note },
    });
    this.manager.start();
  }

  static async start(server: TestServer, namespace: string): Promise<StuckManager> {
    return new StuckManager(server, namespace, await FaultProxy.start(server.kubeConfig()));
  }

  async create(name = 'web', metadata = {}): Promise<ServedPod> {
    const pod = podOf(await this.server.admin.createPod(this.namespace, podJson(name, { metadata })));
    this.podManager.addPod(pod);
    return pod;
  }

  /** Gives the pod manager what the server has. */
  async observe(name = 'web'): Promise<ServedPod> {
    const pod = podOf(await this.server.admin.getPod(this.namespace, name));
    this.podManager.updatePod(pod);
    return pod;
  }

  /** Sets a status, and waits until it is on the apiserver. */
  async written(pod: ServedPod, status: WirePodStatus): Promise<void> {
    this.manager.setPodStatus(pod, status);
    const { uid } = pod.metadata;
    await pollUntil('the status is written', () => this.manager.explain(uid).phase === 'in-sync');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.proxy.heal();
    await this.manager.stop({ drainTimeoutMs: 0 });
    await this.#podClient.close();
    await this.proxy[Symbol.asyncDispose]();
  }
}

const container = (state: object) => ({ name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state });

export const managerRows: readonly ManagerRow[] = [
  {
    id: 'pod-recreated',
    title: 'a pod was deleted, and another one has its name',
    about: 'pod',
    kind: 'recreated',
    words: 'the apiserver has another one named',
    logWords: false,
    log: { message: 'the pod was deleted and another one has its name; its status was not written and is dropped' },
    help: 'End what runs of the pod with this uid, and take it out of the pod manager; the other pod has a uid of its own.',
    retried: false,
    arrange: async (stuck) => {
      const pod = await stuck.create();
      await stuck.written(pod, { phase: 'Running' });
      await stuck.server.admin.deletePod(stuck.namespace, 'web', { gracePeriodSeconds: 0 });
      podOf(await stuck.server.admin.createPod(stuck.namespace, podJson('web')));
      stuck.manager.setPodStatus(pod, { phase: 'Running', message: 'it is never written' });
    },
  },
  {
    id: 'pod-gone',
    title: 'a pod is gone from the apiserver, and the agent still has it',
    about: 'pod',
    kind: 'gone',
    words: 'the apiserver no longer has the pod',
    help: 'End what runs of the pod, and take it out of the pod manager.',
    retried: false,
    arrange: async (stuck) => {
      const pod = await stuck.create();
      await stuck.server.admin.deletePod(stuck.namespace, 'web', { gracePeriodSeconds: 0 });
      stuck.manager.setPodStatus(pod, { phase: 'Running' });
      await pollUntil('it is found to be gone', () => stuck.manager.explain(pod.metadata.uid).phase === 'gone');
      await stuck.clock.advance(10_000);
    },
  },
  {
    id: 'held-by-finalizers',
    title: 'a pod has ended and is deleted, and stays: finalizers hold it',
    about: 'pod',
    kind: 'held-by-finalizers',
    words: 'finalizers hold the object',
    help: 'See who is to remove the finalizers in metadata.finalizers of the pod, and why it does not.',
    retried: false,
    arrange: async (stuck) => {
      await stuck.create('web', { finalizers: ['example.com/held'] });
      await stuck.server.admin.deletePod(stuck.namespace, 'web', { gracePeriodSeconds: 30 });
      const pod = await stuck.observe();
      stuck.safety.running = false;
      stuck.safety.reclaimed = true;
      stuck.manager.setPodStatus(pod, { phase: 'Succeeded' });
      stuck.manager.terminatePod(pod);
      await pollUntil('the deletion is accepted', () => stuck.manager.explain(pod.metadata.uid).phase === 'deleting');
      await stuck.clock.advance(10_000);
    },
  },
  {
    id: 'no-answer',
    title: 'a write of a status is under way, and no answer comes',
    about: 'pod',
    kind: 'no-answer',
    words: 'has not answered a request for the pod',
    help: 'See whether the apiserver is overloaded, or something between here and there holds requests.',
    retried: false,
    arrange: async (stuck) => {
      stuck.proxy.fail(/PATCH/, { kind: 'silence' });
      const pod = await stuck.create();
      stuck.manager.setPodStatus(pod, { phase: 'Running' });
      await pollUntil('it is sent', () => stuck.manager.snapshot().inFlight === 1);
      await stuck.clock.advance(10_000);
    },
  },
  {
    id: 'waits-for-turn',
    title: 'statuses wait for their turn: the requests before them take long',
    about: 'pod',
    kind: 'waits-for-turn',
    words: 'the newest status still waits for its turn',
    help: 'See why requests take long, or raise `concurrency`.',
    retried: false,
    arrange: async (stuck) => {
      stuck.proxy.fail(/PATCH .*other/, { kind: 'silence' });
      stuck.manager.setPodStatus(await stuck.create('other'), { phase: 'Running' });
      await pollUntil('it is sent', () => stuck.manager.snapshot().inFlight === 1);
      stuck.manager.setPodStatus(await stuck.create(), { phase: 'Running' });
      await stuck.clock.advance(10_000);
    },
  },
  {
    id: 'all-wait',
    title: 'no status is written: all requests wait after a 401 or a 429',
    about: 'pod',
    kind: 'paused',
    words: 'all requests wait after an answer that concerns every pod',
    help: undefined,
    retried: false,
    arrange: async (stuck) => {
      stuck.proxy.fail(/PATCH .*other/, refusal(401, 'Unauthorized', 'the token has expired'));
      stuck.manager.setPodStatus(await stuck.create('other'), { phase: 'Running' });
      await pollUntil('all wait', () => stuck.manager.snapshot().pausedUntil !== undefined);
      stuck.manager.setPodStatus(await stuck.create(), { phase: 'Running' });
    },
  },
  {
    id: 'fought-over',
    title: "another writer changes a pod's status again and again",
    about: 'pod',
    kind: 'fought-over',
    words: 'another writer changes the status again and again',
    logWords: false,
    log: { message: 'another writer changes the status of a pod again and again' },
    help: 'Find the other writer: managedFields of the pod name it (kubectl get pod -o yaml --show-managed-fields).',
    retried: false,
    arrange: async (stuck) => {
      const pod = await stuck.create();
      await stuck.written(pod, { phase: 'Running', message: 'ours' });
      for (let batch = 0; batch < 3; batch++) {
        await stuck.server.admin.patchPodStatus(stuck.namespace, 'web', { status: { message: 'theirs' } });
        await stuck.observe();
        await pollUntil('it is repaired', async () => (await stuck.observe()).status.message === 'ours');
        await stuck.clock.advance(10_000);
      }
    },
  },
  {
    id: 'status-refused-by-rules',
    title: 'the agent sets a status that cannot follow the one before',
    about: 'pod',
    kind: 'status-refused',
    words: 'attempted illegal transition to non-terminated state',
    log: { message: 'a status was refused: its container states cannot follow the cached ones' },
    help: 'Set a status that can follow: a container that has ended does not run again by itself.',
    retried: false,
    arrange: async (stuck) => {
      const pod = await stuck.create('web', {});
      const never = { ...pod, spec: { ...pod.spec, restartPolicy: 'Never' } } as ServedPod;
      stuck.manager.setPodStatus(never, { phase: 'Running', containerStatuses: [container({ terminated: { exitCode: 0 } })] });
      stuck.manager.setPodStatus(never, { phase: 'Running', containerStatuses: [container({ running: {} })] });
    },
  },
  {
    id: 'status-invalid-for-server',
    title: 'the apiserver itself refuses a status (422)',
    about: 'pod',
    kind: 'quarantined',
    words: 'status.qosClass',
    log: { message: 'a pod could not be brought up to date' },
    help: 'Let the agent, or its provider, give a status that the apiserver takes: the message names what it refuses.',
    retried: false,
    arrange: async (stuck) => {
      const pod = await stuck.create();
      stuck.manager.setPodStatus(pod, { phase: 'Running', qosClass: 'Guaranteed' });
    },
  },
];
