import { errorFromStatus, type JsonMembers } from '../../../src/client/transport/api-answer.ts';
import type { KubeRequest, WirePod } from '../../../src/index.ts';
import type { MirrorCall, ServerView } from './mirror-case.ts';

/** A recorded failure that is no HTTP code: 409 with the reason AlreadyExists. */
const alreadyExists = 4091;
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** The words of the server that was recorded. */
const statuses: Readonly<Record<number, (name: string) => { reason: string; message: string }>> = {
  403: (name) => ({ reason: 'Forbidden', message: `pods "${name}" is forbidden: no` }),
  404: (name) => ({ reason: 'NotFound', message: `pods "${name}" not found` }),
  409: (name) => ({
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on pods "${name}": precondition failed`,
  }),
  422: (name) => ({ reason: 'Invalid', message: `Pod "${name}" is invalid` }),
  429: () => ({ reason: 'TooManyRequests', message: 'slow down' }),
  500: () => ({ reason: 'InternalError', message: 'Internal error occurred: injected' }),
  504: () => ({ reason: 'Timeout', message: 'Timeout: too slow' }),
  [alreadyExists]: (name) => ({ reason: 'AlreadyExists', message: `pods "${name}" already exists` }),
};

/** The apiserver of a recording, as a transport: it keeps pods by name, and records the requests. */
export class RecordedServer {
  readonly #pods = new Map<string, WirePod>();
  readonly #fails: { readonly verb: string; readonly code: number }[] = [];
  #calls: MirrorCall[] = [];
  #uids = 0;

  put(pod: WirePod): void {
    this.#pods.set(`${pod.metadata?.namespace}/${pod.metadata?.name}`, pod);
  }

  remove(namespace: string, name: string): void {
    this.#pods.delete(`${namespace}/${name}`);
  }

  /** The next request of that verb fails. */
  fail(verb: string, code: number): void {
    this.#fails.push({ verb, code });
  }

  takeCalls(): readonly MirrorCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  view(): ServerView {
    const entries = Array.from(this.#pods, ([key, { metadata }]): [string, readonly [string, string]] => [
      key,
      [metadata?.uid ?? '', metadata?.annotations?.[mirrorAnnotation] ?? ''],
    ]);
    return Object.fromEntries(entries);
  }

  async request({ method, path, query, body }: KubeRequest): Promise<JsonMembers> {
    if (query !== undefined && query.size > 0) throw new Error(`${method} ${path} has a query: ${query}`);
    const sent: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
    const [, namespace = '', name] = /^\/api\/v1\/namespaces\/([^/]+)\/pods(?:\/([^/]+))?$/.exec(path) ?? [];
    if (method === 'POST' && name === undefined) return this.#create(path, namespace, sent as WirePod);
    if (method === 'DELETE' && name !== undefined) return this.#delete(path, namespace, name, sent as JsonMembers);
    throw new Error(`${method} ${path} was not expected`);
  }

  async stream(): Promise<void> {
    throw new Error('no watch was expected');
  }

  #create(path: string, namespace: string, { apiVersion, kind, ...pod }: WirePod): JsonMembers {
    const name = pod.metadata?.name ?? '';
    const typed = apiVersion === 'v1' && kind === 'Pod' ? pod : { apiVersion, kind, ...pod };
    const code = this.#takeFailure('create') ?? (this.#pods.has(`${namespace}/${name}`) ? alreadyExists : undefined);
    this.#answer({ verb: 'create', namespace, name, pod: typed }, `POST ${path}`, code);
    const stored = { ...pod, metadata: { ...pod.metadata, uid: `server-${++this.#uids}`, resourceVersion: `${this.#uids}` } };
    this.#pods.set(`${namespace}/${name}`, stored);
    return stored as JsonMembers;
  }

  #delete(
    path: string,
    namespace: string,
    name: string,
    { apiVersion, kind, preconditions = {}, ...rest }: JsonMembers,
  ): JsonMembers {
    const held = this.#pods.get(`${namespace}/${name}`);
    // Go writes preconditions that name nothing as an empty object
    const typed = apiVersion === 'v1' && kind === 'DeleteOptions' ? {} : { apiVersion, kind };
    const uid = (preconditions as { uid?: string }).uid;
    const refusal = held === undefined ? 404 : uid !== undefined && uid !== held.metadata?.uid ? 409 : undefined;
    const code = this.#takeFailure('delete') ?? refusal;
    this.#answer({ verb: 'delete', namespace, name, options: { ...typed, ...rest, preconditions } }, `DELETE ${path}`, code);
    this.#pods.delete(`${namespace}/${name}`);
    return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
  }

  #takeFailure(verb: string): number | undefined {
    const index = this.#fails.findIndex((fail) => fail.verb === verb);
    return index < 0 ? undefined : this.#fails.splice(index, 1)[0]?.code;
  }

  /** Records the call, and throws the error that a code stands for. */
  #answer(call: MirrorCall, label: string, code: number | undefined): void {
    if (code === undefined) {
      this.#calls.push(call);
      return;
    }
    const status = code === alreadyExists ? 409 : code;
    this.#calls.push({ ...call, error: status });
    const says = statuses[code]?.(call.name);
    if (says === undefined) throw new Error(`the recorded server answers no ${code}`);
    throw errorFromStatus({ kind: 'Status', code: status, ...says }, { status, label });
  }
}
