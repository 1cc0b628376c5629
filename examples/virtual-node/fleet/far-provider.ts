import type { NodePod, NotifyPods, PodProvider } from 'pod-status-manager/node';
import { type CloudCall, type CloudPod, type FromMember, statusOfCloudPod, type ToMember } from './messages.ts';

/** The way of a member to the cloud, which is in another process. */
export class CloudLink {
  readonly #send: (message: FromMember) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly CloudPod[]>>();
  readonly #notify = new Map<string, NotifyPods>();
  #lastID = 0;

  constructor(send: (message: FromMember) => void) {
    this.#send = send;
  }

  take(message: ToMember): void {
    if (message.kind === 'changed') this.#notify.get(message.nodeName)?.(message.uid);
    else this.#settle(message);
  }

  #settle({ id, pods, failure }: Extract<ToMember, { readonly kind: 'answer' }>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure === undefined) waiting?.resolve(pods);
    else waiting?.reject(new Error(failure));
  }

  /** Runs the pods of one node in the cloud. */
  provider(nodeName: string): PodProvider {
    const ask = (asked: CloudCall): Promise<readonly CloudPod[]> => this.#ask(asked);
    return {
      createPod: async ({ metadata: { uid, namespace, name } }: NodePod) => {
        await ask({ call: 'create', pod: { uid, namespace, name, nodeName } });
      },
      deletePod: async ({ metadata: { uid } }: NodePod) => {
        await ask({ call: 'delete', uid });
      },
      getPodStatus: async ({ metadata: { uid } }: NodePod) => {
        const [pod] = await ask({ call: 'get', uid });
        return pod && statusOfCloudPod(pod);
      },
      // a member that takes a node over finds here what another one has created
      getPods: async () => {
        const pods = await ask({ call: 'list', nodeName });
        return pods.map(({ uid, namespace, name }) => ({
          metadata: { uid, namespace, name },
          spec: { nodeName, containers: [{ name: 'app' }] },
        }));
      },
      notifyPods: (notify) => {
        this.#notify.set(nodeName, notify);
      },
    };
  }

  #ask(asked: CloudCall): Promise<readonly CloudPod[]> {
    this.#lastID += 1;
    const answer = Promise.withResolvers<readonly CloudPod[]>();
    this.#waiting.set(this.#lastID, answer);
    this.#send({ kind: 'call', id: this.#lastID, asked });
    return answer.promise;
  }
}
