import type { WirePod } from '../../../src/api/json/types.ts';
import { isMirrorPodOf } from '../../../src/api/pod/pod-identity.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { MirrorPodClient } from '../../../src/node/mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../../../src/node/mirror/mirror-pod-reconciler.ts';
import type { MirrorPodFailure } from '../../../src/node/mirror/reconciler-options.ts';
import { buildRunningStatus, buildStaticPod } from '../../../src/testing/fakes/builders.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import type { TestServer } from '../../support/servers.ts';
import { TestNode } from '../manager/manager-fixture.ts';

/** How long a fact on the server may take, on a busy machine. */
const waitMs = 20_000;

/** A node that runs static pods: the real parts, on the machine's clock. */
export class MirrorNode implements AsyncDisposable {
  readonly node: TestNode;
  readonly client: MirrorPodClient;
  readonly reconciler: MirrorPodReconciler;
  readonly failures: MirrorPodFailure[] = [];
  readonly #server: TestServer;
  readonly #namespace: string;
  readonly #transport: KubeTransport;

  private constructor(server: TestServer, namespace: string, node: TestNode) {
    this.#server = server;
    this.#namespace = namespace;
    this.node = node;
    this.#transport = new KubeTransport(server.kubeConfig(), { connections: 4 });
    const { name: nodeName } = node;
    const getNode = (name: string): object => ({ metadata: { name, uid: `uid-of-${name}` } });
    this.client = new MirrorPodClient({ transport: this.#transport, nodeName, getNode });
    this.reconciler = this.another();
  }

  static async start(server: TestServer, namespace: string): Promise<MirrorNode> {
    const node = new MirrorNode(server, namespace, await TestNode.start(server, namespace));
    node.reconciler.start();
    return node;
  }

  /** A reconciler over the same pods, not started: the agent's, or the one of an agent that restarts. */
  another(): MirrorPodReconciler {
    const { name: nodeName, podManager } = this.node;
    return new MirrorPodReconciler({
      logger: null,
      podManager,
      mirrorPodClient: this.client,
      nodeName,
      podSource: { lastListedAt: () => this.node.lastListedAt() },
      handlers: { failed: (failure) => this.failures.push(failure) },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reconciler.stop();
    await this.#transport.close();
    await this.node[Symbol.asyncDispose]();
  }

  /** Puts a static pod into the pod manager, in place of another version of it. */
  setStatic(name: string, hash = 'hash-1', message?: string): WirePod {
    const { podManager } = this.node;
    const pod = buildStaticPod({
      metadata: {
        name,
        namespace: this.#namespace,
        uid: `${hash}-of-${name}`,
        annotations: { 'kubernetes.io/config.hash': hash },
      },
      spec: { nodeName: this.node.name, containers: [{ name: 'main', image: 'example.test/main:1' }] },
    });
    const held = podManager.getPodByName(this.#namespace, name);
    if (held !== undefined) podManager.removePod(held);
    podManager.addPod(pod);
    this.say(pod, message);
    return pod;
  }

  /** The agent says that the pod runs. */
  say(pod: WirePod, message?: string): void {
    this.node.manager.setPodStatus(pod, buildRunningStatus(pod, message === undefined ? {} : { message }));
  }

  /** Resolves to the pod of this name once it is there and as wanted. */
  async served(name: string, isWanted: (pod: ServedPod) => boolean): Promise<ServedPod> {
    const until = performance.now() + waitMs;
    for (;;) {
      const answer = await this.#server.admin.getPod(this.#namespace, name);
      const pod = answer.status === 200 ? podOf(answer) : undefined;
      if (pod !== undefined && isWanted(pod)) return pod;
      if (performance.now() > until) throw new Error(`the pod ${name} is not as wanted: ${JSON.stringify(answer.body)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Resolves to the mirror pod of this static pod once it says that it runs. */
  running(pod: WirePod, message?: string): Promise<ServedPod> {
    return this.served(
      pod.metadata?.name ?? '',
      (served) =>
        isMirrorPodOf(served, pod) &&
        !served.metadata.deletionTimestamp &&
        served.status.phase === 'Running' &&
        served.status.message === message,
    );
  }

  /** Resolves once no pod has this name. */
  async gone(name: string): Promise<void> {
    const until = performance.now() + waitMs;
    while (!(await this.node.isGone(name))) {
      if (performance.now() > until) throw new Error(`the pod ${name} is still there`);
    }
  }
}
