import { Agent, request } from 'undici';
import { type GivenContainer, type NodePod, type PodProvider, podStatusFromContainers } from '../../../src/node.ts';
import { type CloudChanges, type CloudPod, memberHeader, type WantedPod } from './cloud.ts';

const versionWords = /^cloud version (\d+)$/;

/** The version of the cloud's pod that a status was made from; undefined where it says none. */
export function cloudVersionOf(message: string | undefined): number | undefined {
  const [, version] = versionWords.exec(message ?? '') ?? [];
  return version === undefined ? undefined : Number(version);
}

/** One member's way to the cloud: a provider for each node, and one question for the changes of all. */
export class CloudClient implements AsyncDisposable {
  readonly #url: string;
  readonly #member: string;
  readonly #agent = new Agent({ connections: 8 });
  readonly #end = new AbortController();
  readonly #notify = new Map<string, (uid: string) => void>();

  constructor(url: string, member: string) {
    this.#url = url;
    this.#member = member;
    void this.#listen();
  }

  /** A node that is started again gets another provider; the one before is told nothing any more. */
  provider(nodeName: string): PodProvider {
    return {
      createPod: (pod, { signal }) => this.#create(nodeName, pod, signal),
      deletePod: (pod, { signal }) => this.#delete(nodeName, pod.metadata.uid, signal),
      getPodStatus: async (pod, { signal }) => {
        const found = await this.#call<CloudPod>('GET', `/pods/${pod.metadata.uid}`, { signal });
        return found && statusOf(pod, found);
      },
      getPods: async ({ signal }) => {
        const pods = (await this.#call<CloudPod[]>('GET', `/pods?node=${nodeName}`, { signal })) ?? [];
        return pods.map(({ uid, namespace, name }) => ({
          metadata: { uid, namespace, name },
          spec: { nodeName, containers: [] },
        }));
      },
      notifyPods: (notify) => this.#notify.set(nodeName, notify),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#agent.destroy();
  }

  async #create(nodeName: string, { metadata, spec }: NodePod, signal: AbortSignal): Promise<void> {
    const { uid, namespace, name } = metadata;
    const containers = spec.containers.map((container) => container.name);
    const body: WantedPod = { uid, namespace, name, nodeName, runsOnce: spec.restartPolicy === 'Never', containers };
    await this.#call('PUT', `/pods/${uid}`, { signal, body });
  }

  async #delete(nodeName: string, uid: string, signal: AbortSignal): Promise<GivenContainer[] | undefined> {
    const ended = await this.#call<CloudPod>('DELETE', `/pods/${uid}?node=${nodeName}`, { signal });
    return ended && givenContainers(ended);
  }

  /** Undefined: there is no such pod. */
  async #call<T>(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    { signal, body }: { signal: AbortSignal; body?: unknown },
  ): Promise<T | undefined> {
    const { statusCode, body: answer } = await request(`${this.#url}${path}`, {
      method,
      signal,
      dispatcher: this.#agent,
      headers: { [memberHeader]: this.#member },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (statusCode === 404) return undefined;
    if (statusCode >= 300) throw new Error(`the cloud answered ${statusCode} to ${method} ${path}: ${text}`);
    return JSON.parse(text);
  }

  async #listen(): Promise<void> {
    const { signal } = this.#end;
    let after = 0;
    while (!signal.aborted) {
      const changes = await this.#call<CloudChanges>('GET', `/changes?after=${after}`, { signal }).catch(() => undefined);
      if (changes === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
      after = changes?.last ?? after;
      for (const { uid, nodeName } of changes?.pods ?? []) this.#notify.get(nodeName)?.(uid);
    }
  }
}

/** The status of a pod, in whose message the version of the cloud's pod stands. */
function statusOf(pod: NodePod, found: CloudPod): ReturnType<typeof podStatusFromContainers> {
  const podIsTerminal = found.runsOnce && found.containers.every(({ state }) => state === 'exited');
  const addresses = { podIPs: ['198.51.100.7'], hostIPs: ['192.0.2.10'] };
  const status = podStatusFromContainers(pod, givenContainers(found), { podIsTerminal, ...addresses });
  return { ...status, message: `cloud version ${found.version}` };
}

function givenContainers({ containers }: CloudPod): GivenContainer[] {
  return containers.map(({ name, state, restartCount, startedAt, finishedAt, exitCode, ready }) =>
    state === 'running'
      ? { name, state, restartCount, startedAt, ready }
      : { name, state, restartCount, startedAt, finishedAt: finishedAt ?? startedAt, exitCode: exitCode ?? 0 },
  );
}
