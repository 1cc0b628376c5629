import type { KubeConfig } from '@kubernetes/client-node';
import { AdminClient } from '../../test/support/admin-client.ts';

/** So many creations are under way at once. */
const atOnce = 50;

export function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `node-${String(index).padStart(4, '0')}`);
}

/** Creates what all contenders find: it is the same for each. Pods name their node, so that no scheduler has to place them. */
export class Creator implements AsyncDisposable {
  readonly #admin: AdminClient;

  constructor(kubeConfig: KubeConfig) {
    this.#admin = new AdminClient(kubeConfig);
  }

  async createNodes(names: readonly string[]): Promise<void> {
    await this.#each(names.length, (index) => this.#create('/api/v1/nodes', { metadata: { name: names[index] } }));
  }

  /** One after the other on each node. Resolves with the time of each answer, by the name of the pod. */
  async createPods(nodes: readonly string[], podsOnEach: number, prefix: string): Promise<Map<string, number>> {
    const createdAt = new Map<string, number>();
    await this.#each(nodes.length * podsOnEach, async (index) => {
      const name = `${prefix}-${index}`;
      const nodeName = nodes[index % nodes.length];
      const spec = { nodeName, automountServiceAccountToken: false, containers: [{ name: 'app', image: 'app:1' }] };
      await this.#create('/api/v1/namespaces/default/pods', { metadata: { name }, spec });
      createdAt.set(name, performance.now());
    });
    return createdAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#admin.close();
  }

  async #create(path: string, body: object): Promise<void> {
    const answer = await this.#admin.send('POST', path, { body });
    if (answer.status !== 201) throw new Error(`POST ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  async #each(count: number, call: (index: number) => Promise<void>): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) await call(next++);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, count) }, work));
  }
}
