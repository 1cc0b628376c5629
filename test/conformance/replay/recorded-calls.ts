import { isDeepStrictEqual } from 'node:util';
import { applyPodStatusPatch, type WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import type { Call, ServerPod, Step, Write } from './replay-scenario.ts';
import { asOnARealServer } from './server-keeps.ts';
import { isTerminal, upstreamMerge } from './upstream-merge.ts';

/** How a request of upstream's for a pod ended. */
export type Attempt = 'done' | 'failed' | 'delete failed' | 'no such pod';

/** A place where a recording contradicts itself or upstream's rules. */
export interface Contradiction {
  readonly pod: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** A pod on the oracle's server. */
export interface StoredPod {
  readonly uid: string;
  readonly deleting: boolean;
  readonly generation: number | undefined;
  readonly status: WirePodStatus;
  /** The status that a real server would hold. */
  readonly kept: WirePodStatus;
}

export interface CallsContext {
  readonly conditionOrder: boolean;
  /** What upstream had to write in this step, by uid. */
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  /** The seconds at which upstream may have written. */
  readonly seconds: readonly string[];
  readonly couldRun: ReadonlySet<string>;
}

/** The calls of one step, applied one after the other to what the oracle's server held. */
export class RecordedCalls {
  /** Upstream's writes that change something on a real server, by what they do. */
  readonly writes: Write[] = [];
  /** How the last request for each pod ended. */
  readonly attempts = new Map<string, Attempt>();
  readonly contradictions: Contradiction[] = [];
  readonly #server: Map<string, StoredPod>;
  readonly #context: CallsContext;

  constructor(step: Step, before: ReadonlyMap<string, StoredPod>, context: CallsContext) {
    this.#server = afterOthers(step, before);
    this.#context = context;
  }

  take(call: Call): void {
    const pod = `${call.namespace}/${call.name}`;
    const stored = this.#server.get(pod);
    this.attempts.set(pod, outcomeOf(call, stored));
    if (call.error || call.verb === 'get') return;
    if (stored === undefined) {
      this.#contradicts(pod, 'a pod to write to', call);
      return;
    }
    const uid = call.verb === 'delete' ? call.uid : (call.patch?.metadata as { uid?: string } | undefined)?.uid;
    if (uid !== stored.uid) this.#contradicts(pod, { uid: stored.uid }, { verb: call.verb, uid });
    if (call.verb === 'delete') this.#deleted(pod, stored, call);
    else this.#patched(pod, stored, call);
  }

  /** The server as recorded after the step. A state that the calls do not lead to is a contradiction. */
  endWith(recorded: Readonly<Record<string, ServerPod>>): Map<string, StoredPod> {
    for (const pod of new Set([...this.#server.keys(), ...Object.keys(recorded)])) {
      const [stored, found] = [this.#server.get(pod), recorded[pod]];
      const [told, shown] = [comparablePod(stored), comparablePod(found)];
      if (isDeepStrictEqual(told, shown)) continue;
      this.#contradicts(pod, told, shown);
      if (found === undefined) this.#server.delete(pod);
      else this.#server.set(pod, corrected(stored, found));
    }
    return this.#server;
  }

  /** A DELETE comes when the server shows a terminal phase, and the newest status: a PATCH that was due has come before it. */
  #deleted(pod: string, stored: StoredPod, { uid = '', gracePeriodSeconds = -1 }: Call): void {
    const cached = this.#context.cache[stored.uid];
    const expected = cached && comparable(asOnARealServer(stored.kept, this.#merged(stored, cached)[0] ?? cached, cached), false);
    const found = comparable(stored.kept, false);
    if (cached !== undefined && !isDeepStrictEqual(expected, found)) this.#contradicts(pod, expected, found);
    const isDue = stored.deleting && isTerminal(stored.status.phase) && gracePeriodSeconds === 0;
    if (!isDue)
      this.#contradicts(pod, 'no DELETE', { deleting: stored.deleting, phase: stored.status.phase, gracePeriodSeconds });
    this.writes.push({ verb: 'delete', pod, uid, gracePeriodSeconds });
    this.#server.delete(pod);
  }

  #patched(pod: string, stored: StoredPod, { patch }: Call): void {
    const status = applyPodStatusPatch(stored.status, { type: 'application/strategic-merge-patch+json', body: patch });
    const cached = this.#context.cache[stored.uid];
    if (cached !== undefined) this.#checkMerge(pod, stored, cached, status);
    const kept = asOnARealServer(stored.kept, status, cached);
    // a patch that removes what the server keeps has no effect
    const effect = (value: WirePodStatus): unknown => comparable(value, this.#context.conditionOrder);
    if (!isDeepStrictEqual(effect(kept), effect(stored.kept))) this.writes.push({ verb: 'patch', pod, status: kept });
    this.#server.set(pod, { ...stored, status, kept });
  }

  /** A PATCH leaves what the merge of the cached status into the server's makes, at one of the seconds at which it may have come. */
  #checkMerge(pod: string, stored: StoredPod, cached: WirePodStatus, got: WirePodStatus): void {
    const possible = this.#merged(stored, cached).map((status) => comparable(status, true));
    const found = comparable(got, true);
    if (!possible.some((expected) => isDeepStrictEqual(expected, found))) this.#contradicts(pod, possible[0], found);
  }

  #merged({ generation, status: server, uid }: StoredPod, cached: WirePodStatus): WirePodStatus[] {
    const couldHaveRunningContainers = this.#context.couldRun.has(uid);
    return this.#context.seconds.map((now) => upstreamMerge({ server, cached, generation, couldHaveRunningContainers, now }));
  }

  #contradicts(pod: string, expected: unknown, got: unknown): void {
    this.contradictions.push({ pod, expected, got });
  }
}

function outcomeOf({ verb, error }: Call, stored: StoredPod | undefined): Attempt {
  if (error) return verb === 'delete' ? 'delete failed' : 'failed';
  return stored === undefined ? 'no such pod' : 'done';
}

function comparablePod(pod: ServerPod | undefined): unknown {
  return pod && { uid: pod.uid, deleting: pod.deleting === true, status: comparable(pod.status, true) };
}

function corrected(stored: StoredPod | undefined, { uid, deleting = false, status }: ServerPod): StoredPod {
  const same = stored?.uid === uid ? stored : undefined;
  const kept = same ? asOnARealServer(same.kept, status, undefined) : status;
  return { uid, deleting, generation: same?.generation, status, kept };
}

/** The server's pods as the manager finds them: after another writer's change in the same step. */
function afterOthers({ op, pod, namespace, name }: Step, before: ReadonlyMap<string, StoredPod>): Map<string, StoredPod> {
  const server = new Map(before);
  if (op === 'apiserver.remove') server.delete(`${namespace}/${name}`);
  if (op === 'apiserver.put' && pod?.metadata !== undefined) {
    const { uid = '', deletionTimestamp, generation } = pod.metadata;
    const status = pod.status ?? {};
    const stored: StoredPod = { uid, deleting: Boolean(deletionTimestamp), generation, status, kept: status };
    server.set(`${pod.metadata.namespace}/${pod.metadata.name}`, stored);
  }
  return server;
}
