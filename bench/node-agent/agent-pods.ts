import type { AdminClient } from '../../test/support/admin-client.ts';
import { PodTimes } from './pod-times.ts';

/** Pods in a namespace of their own, started and deleted as the apiserver's users do it. */
export class AgentPods implements AsyncDisposable {
  readonly #admin: AdminClient;
  readonly #namespace: string;
  readonly #image: string;
  readonly #watch: PodTimes;
  readonly #names: string[] = [];
  readonly #startMs: number[] = [];
  readonly #goneMs: number[] = [];

  private constructor(admin: AdminClient, namespace: string, image: string) {
    this.#admin = admin;
    this.#namespace = namespace;
    this.#image = image;
    this.#watch = new PodTimes(admin, namespace);
  }

  static async open(admin: AdminClient, image: string): Promise<AgentPods> {
    const namespace = await admin.createNamespace('bench');
    await defaultAccount(admin, namespace);
    const pods = new AgentPods(admin, namespace, image);
    pods.#watch.read().catch(() => undefined);
    return pods;
  }

  get times() {
    return { namespace: this.#namespace, startMs: this.#startMs, goneMs: this.#goneMs };
  }

  /** Each pod is created, Ready, deleted and gone before the next. */
  async oneAtATime(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      await this.start(1);
      await this.end();
    }
  }

  /** Creates pods at once and waits until all are Ready. */
  async start(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, n) => `pod-${this.#startMs.length + n}`);
    this.#names.push(...names);
    this.#startMs.push(...(await Promise.all(names.map((name) => this.#startOne(name)))));
  }

  /** Deletes all pods at once and waits until all are gone. */
  async end(): Promise<void> {
    const names = this.#names.splice(0);
    this.#goneMs.push(...(await Promise.all(names.map((name) => this.#endOne(name)))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async #startOne(name: string): Promise<number> {
    const began = performance.now();
    const { status, body } = await this.#admin.createPod(this.#namespace, this.#pod(name));
    if (status !== 201) throw new Error(`Creating ${name} answered ${status}: ${JSON.stringify(body)}`);
    return (await this.#watch.when('ready', name)) - began;
  }

  async #endOne(name: string): Promise<number> {
    const began = performance.now();
    await this.#admin.deletePod(this.#namespace, name);
    return (await this.#watch.when('gone', name)) - began;
  }

  /** As plain as most pods: one container that ends when it is asked to, and the default service account's token. */
  #pod(name: string): object {
    return {
      metadata: { name },
      spec: { nodeName: 'node-kit', containers: [{ name: 'main', image: this.#image, imagePullPolicy: 'IfNotPresent' }] },
    };
  }
}

/** Pods are refused until the namespace has its service account; the config map of root certificates comes with it. */
async function defaultAccount(admin: AdminClient, namespace: string): Promise<void> {
  for (const path of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
    while ((await admin.send('GET', `/api/v1/namespaces/${namespace}/${path}`)).status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
