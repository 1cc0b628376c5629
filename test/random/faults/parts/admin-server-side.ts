import { randomBytes } from 'node:crypto';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { AdminClient, SendOptions } from '../../../support/admin-client.ts';
import type { Answer } from '../../../support/answers.ts';
import type { ServerSide } from '../../chaos/parts/parts-world.ts';
import { persist } from '../pause.ts';

const attemptLabel = 'parts.example/attempt';
/** Longer than a kube-apiserver takes to come back. */
const giveUpAfterMs = 120_000;

/** The server by its administrator's client, past the proxy. Each request is sent until it is answered. */
export class AdminServerSide implements ServerSide {
  readonly #admin: AdminClient;
  readonly #path: string;

  constructor(admin: AdminClient, namespace: string) {
    this.#admin = admin;
    this.#path = `/api/v1/namespaces/${namespace}`;
  }

  async list(resource: string): Promise<readonly ApiObject[]> {
    const { answer } = await this.#send('GET', `${this.#path}/${resource}`);
    return itemsOf(answer);
  }

  async write(resource: string, object: ApiObject): Promise<void> {
    const { answer } = await this.#send('PUT', `${this.#path}/${resource}/${object.metadata?.name}`, { body: object });
    if (answer.status === 404) await this.#send('POST', `${this.#path}/${resource}`, { body: object });
    else if (answer.status >= 400) throw new Error(`a PUT answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  async delete(resource: string, name: string): Promise<void> {
    await this.#send('DELETE', `${this.#path}/${resource}/${name}`);
  }

  async pods(): Promise<readonly WirePod[]> {
    const { answer } = await this.#send('GET', `${this.#path}/pods`);
    return itemsOf(answer);
  }

  async createPod(pod: WirePod): Promise<WirePod | undefined> {
    // an attempt that was not answered may have created it
    const attempt = randomBytes(8).toString('hex');
    const labels = { ...pod.metadata?.labels, [attemptLabel]: attempt };
    const body = { ...pod, metadata: { ...pod.metadata, labels } };
    const { answer, attempts } = await this.#send('POST', `${this.#path}/pods`, { body });
    if (answer.status === 201) return answer.body as WirePod;
    if (answer.status !== 409) throw new Error(`creating a pod answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    if (attempts === 1) return undefined;
    return (await this.pods()).find(({ metadata }) => metadata?.labels?.[attemptLabel] === attempt);
  }

  async deletePod(name: string, { uid, force }: { readonly uid: string; readonly force: boolean }): Promise<boolean> {
    const body = { preconditions: { uid }, ...(force ? { gracePeriodSeconds: 0 } : {}) };
    const { answer, attempts } = await this.#send('DELETE', `${this.#path}/pods/${name}`, { body });
    return answer.status < 300 || attempts > 1;
  }

  async #send(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    options: SendOptions = {},
  ): Promise<{ answer: Answer; attempts: number }> {
    let attempts = 0;
    const answer = await persist(async () => {
      attempts++;
      const given = await this.#admin.send(method, path, options);
      if (given.status >= 500 || given.status === 429) throw new Error(`${method} ${path} answered ${given.status}`);
      return given;
    }, AbortSignal.timeout(giveUpAfterMs));
    return { answer, attempts };
  }
}

function itemsOf<T>({ status, body }: Answer): readonly T[] {
  if (status !== 200) throw new Error(`a list answered ${status}`);
  return (body as { items: readonly T[] }).items;
}
