import { Buffer } from 'node:buffer';
import type { WireLease } from '../../../../src/api/json/types.ts';
import { ApiError, type Clock, type KubeRequest, type KubeStream } from '../../../../src/index.ts';
import type { ResourceTransport } from '../../../../src/reflector.ts';

/** One request, as the server and the tests see it. */
export interface LeaseRequest {
  /** Whose transport it came over. */
  readonly who: string;
  readonly verb: 'GET' | 'LIST' | 'POST' | 'PUT' | 'DELETE';
  /** The name of the Lease; `` of a list. */
  readonly name: string;
}

/**
 * What becomes of a request: it is answered, is lost before or after it was carried out, or never settles; carried out so much later; or answered
 * so much later than it was carried out.
 */
export type LeaseFate =
  | 'answered'
  | 'lost'
  | 'answerLost'
  | 'silent'
  | { readonly handledAfterMs: number }
  | { readonly answeredAfterMs: number }
  | ApiError;

interface LeaseWatch {
  readonly who: string;
  readonly labels: readonly string[];
  readonly send: (type: string, object: object) => void;
  readonly end: () => void;
}

/** The Leases of one namespace as an apiserver has them, with watches, in the time of a clock and without a network. */
export class FleetLeaseServer {
  readonly leases = new Map<string, WireLease>();
  readonly requests: LeaseRequest[] = [];
  /** Writes that were carried out: `WHO VERB NAME`. */
  readonly writes: string[] = [];
  readonly watches = new Set<LeaseWatch>();
  fate: (request: LeaseRequest) => LeaseFate = () => 'answered';
  /** True: the watches of this one stand, and nothing comes through. */
  isDeaf: (who: string) => boolean = () => false;
  readonly #clock: Clock;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  transportOf(who: string): ResourceTransport {
    return {
      request: async (request) => this.#request(who, request) as never,
      stream: (stream) => this.#stream(who, stream),
    };
  }

  /** `VERB NAME` of the writes of one since the last call. */
  tookWrites(who: string): string[] {
    const own = this.writes.filter((write) => write.startsWith(`${who} `));
    const others = this.writes.filter((write) => !write.startsWith(`${who} `));
    this.writes.splice(0, this.writes.length, ...others);
    return own.map((write) => write.slice(who.length + 1));
  }

  holder(name: string): string | undefined {
    return this.leases.get(name)?.spec?.holderIdentity;
  }

  /** Somebody else writes the Lease. */
  put(lease: WireLease): WireLease {
    const name = lease.metadata?.name ?? '';
    const known = this.leases.get(name);
    this.#version += 1;
    const metadata = {
      namespace: 'kube-system',
      ...lease.metadata,
      uid: known?.metadata?.uid ?? `uid-${this.#version}`,
      resourceVersion: String(this.#version),
    };
    const written = { ...lease, metadata };
    this.leases.set(name, written);
    this.#tell(known === undefined ? 'ADDED' : 'MODIFIED', written);
    return written;
  }

  /** Somebody else changes the spec of the Lease. */
  edit(name: string, spec: object): void {
    const lease = this.leases.get(name);
    this.put({ ...lease, spec: { ...lease?.spec, ...spec } });
  }

  /** Somebody else deletes the Lease. */
  delete(name: string): void {
    const lease = this.leases.get(name);
    if (lease === undefined) return;
    this.leases.delete(name);
    this.#version += 1;
    this.#tell('DELETED', { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } });
  }

  /** Ends the watches of one: it lists again. */
  endWatches(who: string): void {
    for (const watch of this.watches) if (watch.who === who) watch.end();
  }

  async #request(who: string, { method, path, query, body, signal }: KubeRequest): Promise<object> {
    const name = /\/leases\/([^/]+)$/.exec(path)?.[1] ?? (body as WireLease | undefined)?.metadata?.name ?? '';
    const verb = method === 'GET' && name === '' ? 'LIST' : (method as LeaseRequest['verb']);
    const request = { who, verb, name };
    this.requests.push(request);
    const fate = this.fate(request);
    if (fate === 'lost') throw lost();
    if (fate === 'silent') return silence(signal);
    if (fate instanceof ApiError) throw fate;
    const act = (): object => structuredClone(this.#answer(request, query, body));
    if (typeof fate === 'object' && 'handledAfterMs' in fate) return this.#later(fate.handledAfterMs, signal, act);
    const answer = act();
    if (fate === 'answerLost') throw lost();
    return typeof fate === 'object' ? this.#later(fate.answeredAfterMs, signal, () => answer) : answer;
  }

  /** The server goes on where nobody waits for the answer any more. */
  #later(ms: number, signal: AbortSignal | undefined, act: () => object): Promise<object> {
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    this.#clock.setTimer(() => {
      try {
        resolve(act());
      } catch (error) {
        reject(error);
      }
    }, ms);
    return Promise.race([promise, silence(signal)]);
  }

  #answer({ who, verb, name }: LeaseRequest, query: URLSearchParams | undefined, body: unknown): object {
    if (verb === 'LIST') return { metadata: { resourceVersion: String(this.#version) }, items: this.#selected(query) };
    const known = this.leases.get(name);
    if (verb === 'POST') {
      if (known !== undefined) throw refusal(409, 'AlreadyExists');
    } else if (known === undefined) {
      throw refusal(404, 'NotFound');
    }
    if (verb === 'GET') return known as WireLease;
    const lease = body as WireLease & { preconditions?: { uid?: string; resourceVersion?: string } };
    const wanted = verb === 'DELETE' ? lease?.preconditions : lease.metadata;
    const isOther = wanted?.resourceVersion !== undefined && wanted.resourceVersion !== known?.metadata?.resourceVersion;
    if (isOther) throw refusal(409, 'Conflict');
    this.writes.push(`${who} ${verb} ${name}`);
    if (verb !== 'DELETE') return this.put(lease);
    this.delete(name);
    return { kind: 'Status', status: 'Success' };
  }

  #selected(query: URLSearchParams | undefined): WireLease[] {
    const labels = labelsOf(query);
    return [...this.leases.values()].filter((lease) => hasLabels(lease, labels));
  }

  #stream(who: string, { query, signal, onChunk }: KubeStream): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const send = (type: string, object: object): void => onChunk(Buffer.from(`${JSON.stringify({ type, object })}\n`));
    const end = (): void => {
      this.watches.delete(watch);
      resolve();
    };
    const watch: LeaseWatch = { who, labels: labelsOf(query), send, end };
    signal?.addEventListener('abort', () => {
      this.watches.delete(watch);
      reject(aborted());
    });
    if (query?.get('sendInitialEvents') === 'true') {
      for (const lease of this.#selected(query)) send('ADDED', lease);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      send('BOOKMARK', { metadata: { resourceVersion: String(this.#version), annotations } });
    }
    this.watches.add(watch);
    return promise;
  }

  #tell(type: string, lease: WireLease): void {
    for (const watch of this.watches) {
      if (hasLabels(lease, watch.labels) && !this.isDeaf(watch.who)) watch.send(type, lease);
    }
  }
}

function labelsOf(query: URLSearchParams | undefined): readonly string[] {
  return query?.get('labelSelector')?.split(',') ?? [];
}

function hasLabels(lease: WireLease, labels: readonly string[]): boolean {
  return labels.every((label) => {
    const [name = '', value] = label.split('=');
    return lease.metadata?.labels?.[name] === value;
  });
}

/** The labels of a Lease of the fleet. */
export function leaseLabels(role: 'fleet' | 'member' | 'shard'): Record<string, string> {
  return { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': role };
}

export function refusal(status: number, reason: string): ApiError {
  return new ApiError({ status, reason, message: `${status} ${reason}` });
}

function lost(): ApiError {
  return new ApiError({ reason: 'NoAnswer', message: 'the connection was lost' });
}

function aborted(): ApiError {
  return new ApiError({ reason: 'Aborted', message: 'aborted' });
}

function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(aborted())));
}
