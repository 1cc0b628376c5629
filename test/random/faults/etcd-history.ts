import { Agent, request } from 'undici';
import type { WirePod } from '../../../src/api/json/types.ts';
import type { Checker } from '../chaos/check/checker.ts';
import type { History } from './history.ts';
import { ReadingLoop } from './reading-loop.ts';

interface EtcdEvent {
  /** Absent for PUT, the default, which the JSON of protocol buffers leaves out. */
  readonly type?: 'DELETE';
  readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: string };
}

interface EtcdAnswer {
  readonly result?: {
    readonly header?: { readonly revision?: string };
    readonly canceled?: boolean;
    readonly events?: readonly EtcdEvent[];
  };
}

/**
 * Feeds a checker from etcd's own history through its JSON gateway. No version is missed, also when the apiserver forgets.
 * Needs an apiserver that stores JSON and compacts nothing.
 */
export class EtcdHistory implements History {
  readonly checker: Checker;
  readonly #url: string;
  readonly #prefix: string;
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  readonly #uidOfKey = new Map<string, string>();
  /** When etcd is away, the next watch goes on at the next revision. */
  readonly #loop = new ReadingLoop(() => this.#watch(), 200);
  #revision = 0;

  constructor(etcdUrl: string, namespace: string, checker: Checker) {
    this.#url = `${etcdUrl}/v3/watch`;
    this.#prefix = `/registry/pods/${namespace}/`;
    this.checker = checker;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(() => this.#agent.destroy());
  }

  async #watch(): Promise<void> {
    const range = { key: base64(this.#prefix), range_end: base64(`${this.#prefix.slice(0, -1)}0`) };
    const create = { ...range, start_revision: String(this.#revision + 1) };
    const { body } = await request(this.#url, {
      method: 'POST',
      dispatcher: this.#agent,
      body: JSON.stringify({ create_request: create }),
    });
    let rest: Buffer[] = [];
    for await (const chunk of body as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        this.#take(JSON.parse(Buffer.concat([...rest, chunk.subarray(from, end)]).toString()));
        rest = [];
        from = end + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
    }
  }

  #take({ result }: EtcdAnswer): void {
    if (result?.canceled) throw new Error('etcd ended the watch');
    for (const { type, kv } of result?.events ?? []) {
      const revision = Number(kv.mod_revision);
      if (type === 'DELETE') this.checker.gone(this.#uidOfKey.get(kv.key) ?? '', revision);
      else {
        const pod: WirePod = JSON.parse(Buffer.from(kv.value ?? '', 'base64').toString());
        this.#uidOfKey.set(kv.key, pod.metadata?.uid ?? '');
        this.checker.set({ pod, revision });
      }
      this.#revision = revision;
    }
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
