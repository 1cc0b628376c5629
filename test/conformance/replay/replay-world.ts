import { isDeepStrictEqual } from 'node:util';
import { isMirrorPod, isStaticPod, type WirePod, type WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import type { Due } from './pair.ts';
import type { Notification, ServerPod, Step } from './replay-scenario.ts';
import { asOnARealServer } from './server-keeps.ts';
import { isTerminal, upstreamMerge } from './upstream-merge.ts';

/** A status without what never makes a batch look at a pod: order, times and generations of conditions. */
export function quiet(status: WirePodStatus): unknown {
  const conditions = status.conditions?.map(({ type, status: value, reason, message }) => ({
    type,
    status: value,
    reason,
    message,
  }));
  return comparable({ ...status, ...(conditions && { conditions }) }, false);
}

/** A side's caches and servers, as far as `due` needs them. */
interface Held {
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  readonly server: Readonly<Record<string, ServerPod>>;
}

/** What the scenario itself has done, which is the same for both sides, and which writes follow from it. */
export class World {
  /** Uids of pods that could have running containers. */
  readonly couldRun = new Set<string>();
  /** "namespace/name" to every uid that has carried the name. */
  readonly pods = new Map<string, Set<string>>();
  /** Uids of pods that could have running containers when the last batch ran, and cannot any more. The next batch finds that. */
  readonly #released = new Set<string>();
  readonly #conditionOrder: boolean;
  readonly #objects = new Map<string, WirePod>();
  readonly #names = new Map<string, string>();
  /** The object that was put on the server last, by "namespace/name". */
  readonly #put = new Map<string, WirePod>();

  /** With `conditionOrder` false a write that only moves conditions is none. */
  constructor(conditionOrder: boolean) {
    this.#conditionOrder = conditionOrder;
  }

  note({ op, podUID = '', value, pod }: Step, hasBatch: boolean): void {
    if (hasBatch) this.#released.clear();
    if (op === 'podDeletionSafety.couldHaveRunningContainers') {
      if (value) this.couldRun.add(podUID);
      else if (this.couldRun.delete(podUID)) this.#released.add(podUID);
    }
    const { uid, namespace, name } = pod?.metadata ?? {};
    if (pod === undefined || uid === undefined) return;
    const key = `${namespace}/${name}`;
    this.pods.set(key, (this.pods.get(key) ?? new Set()).add(uid));
    this.#objects.set(uid, pod);
    this.#names.set(uid, key);
    if (op === 'apiserver.put') this.#put.set(key, pod);
  }

  isReleased(podUID: string | undefined): boolean {
    return podUID !== undefined && this.#released.has(podUID);
  }

  uidsOf(pod: string): ReadonlySet<string> {
    return this.pods.get(pod) ?? new Set();
  }

  /** The name of the pod that carries this uid. */
  podOf(podUID: string): string | undefined {
    return this.#names.get(podUID);
  }

  /** The newest object with this uid that the scenario has named. */
  object(podUID: string): WirePod | undefined {
    return this.#objects.get(podUID);
  }

  isStatic(podUID: string): boolean {
    const pod = this.#objects.get(podUID);
    return pod !== undefined && isStaticPod(pod);
  }

  isMirror(podUID: string): boolean {
    const pod = this.#objects.get(podUID);
    return pod !== undefined && isMirrorPod(pod);
  }

  /** The status that a write of `cached` would leave of this pod on a real server. */
  written(pod: string, { uid, status }: Pick<ServerPod, 'uid' | 'status'>, cached: WirePodStatus, now: string): WirePodStatus {
    const couldHaveRunningContainers = !this.isMirror(uid) && this.couldRun.has(uid);
    const generation = this.#put.get(pod)?.metadata?.generation;
    return asOnARealServer(
      status,
      upstreamMerge({ server: status, cached, generation, couldHaveRunningContainers, now }),
      cached,
    );
  }

  /** What a side has still to write of the pod on its server. */
  due(pod: string, { server, cache }: Held, finished: ReadonlySet<string>, now: string): Due {
    const stored = server[pod];
    const cached = stored && cache[stored.uid];
    return stored === undefined || cached === undefined ? 'nothing' : this.dueOf(pod, stored, cached, finished, now);
  }

  dueOf(pod: string, stored: ServerPod, cached: WirePodStatus, finished: ReadonlySet<string>, now: string): Due {
    const next = this.written(pod, stored, cached, now);
    const isEqual = isDeepStrictEqual(next, stored.status);
    if (!isEqual && !isDeepStrictEqual(quiet(next), quiet(stored.status))) return 'patch';
    if (this.isDeletable(stored, finished)) return 'delete';
    const isSame =
      isEqual || isDeepStrictEqual(comparable(next, this.#conditionOrder), comparable(stored.status, this.#conditionOrder));
    return isSame ? 'nothing' : 'quiet';
  }

  isDeletable({ uid, deleting, status }: ServerPod, finished: ReadonlySet<string>): boolean {
    return deleting === true && !this.isMirror(uid) && isTerminal(status.phase) && finished.has(uid);
  }
}

/** Follows which entries of a side are finished: `terminatePod` was called, so the pod may be deleted. */
export function noteFinished(finished: Set<string>, notifications: readonly Notification[]): void {
  for (const { type, podUID } of notifications) {
    if (type === 'removed') finished.add(podUID);
    else finished.delete(podUID);
  }
}
