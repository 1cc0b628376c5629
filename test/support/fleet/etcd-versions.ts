import { Agent, request } from 'undici';

/** One version of an object, as etcd has it; `object` is undefined where it was deleted. */
export interface EtcdVersion {
  readonly revision: number;
  /** Below `/registry/`, such as `pods/default/web-1`. */
  readonly key: string;
  readonly object: unknown;
}

interface WatchAnswer {
  readonly result?: {
    readonly canceled?: boolean;
    readonly header?: { readonly revision?: string };
    readonly events?: readonly {
      readonly type?: 'DELETE';
      readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: string };
    }[];
  };
}

const root = '/registry/';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (text: string): string => Buffer.from(text, 'base64').toString();

/**
 * Reads every version of everything below `/registry/` whose key begins so, in the order in which etcd took them, up to now. It
 * needs apiservers that store JSON and let etcd forget nothing.
 */
export async function readEtcdVersions(
  etcdUrl: string,
  prefixes: readonly string[],
  take: (version: EtcdVersion) => void,
): Promise<void> {
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  try {
    const until = await currentRevision(etcdUrl, dispatcher);
    const range = { key: base64(root), range_end: base64('/registry0'), start_revision: '1' };
    const body = JSON.stringify({ create_request: { ...range } });
    const answer = await request(`${etcdUrl}/v3/watch`, { method: 'POST', dispatcher, body });
    for await (const line of linesOf(answer.body as AsyncIterable<Buffer>)) {
      const { result }: WatchAnswer = JSON.parse(line);
      if (result?.canceled) throw new Error('etcd ended the watch: it has forgotten old versions');
      for (const { type, kv } of result?.events ?? []) {
        const key = plain(kv.key).slice(root.length);
        if (!prefixes.some((prefix) => key.startsWith(prefix))) continue;
        const object: unknown = type === 'DELETE' ? undefined : JSON.parse(plain(kv.value ?? ''));
        take({ revision: Number(kv.mod_revision), key, object });
      }
      const last = result?.events?.at(-1)?.kv.mod_revision;
      if (last !== undefined && Number(last) >= until) return;
    }
    throw new Error('etcd ended the watch before its last revision');
  } finally {
    await dispatcher.destroy();
  }
}

/** Writes a key of its own first: the watch ends with it. */
async function currentRevision(etcdUrl: string, dispatcher: Agent): Promise<number> {
  const body = JSON.stringify({ key: base64(`${root}end-of-the-record`), value: base64('{}') });
  const answer = await request(`${etcdUrl}/v3/kv/put`, { method: 'POST', dispatcher, body });
  const { header } = (await answer.body.json()) as { header: { revision: string } };
  return Number(header.revision);
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString();
      rest = [];
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
}
