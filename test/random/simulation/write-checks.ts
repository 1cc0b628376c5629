import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../src/index.ts';
import type { PodEvent } from '../../../src/testing.ts';
import type { Checker } from '../chaos/check/checker.ts';
import type { RunLog } from './run-log.ts';
import type { ManagerWrite, SimulatedServer } from './simulated-server.ts';

/** Checks every change on the server at the moment it lands. Only here the writer of a change is known. */
export class WriteChecks {
  readonly #server: SimulatedServer;
  readonly #checker: Checker;
  readonly #log: RunLog;
  readonly #lateWrites = new Map<string, number>();

  constructor(server: SimulatedServer, checker: Checker, log: RunLog) {
    this.#server = server;
    this.#checker = checker;
    this.#log = log;
    server.store.watch((event) => this.#check(event));
  }

  /** The revision at which a PATCH landed last on this pod that its process no longer waited for. */
  lateWriteOn(uid: string): number | undefined {
    return this.#lateWrites.get(uid);
  }

  #check({ type, object: pod, previous }: PodEvent): void {
    const { writer } = this.#server;
    // a DELETE changes no status
    const by = writer?.verb === 'patch' ? 'manager' : 'other';
    if (writer !== undefined && previous !== undefined) this.#checkWrite(writer, type, pod, previous);
    const revision = Number(pod.metadata?.resourceVersion);
    if (type === 'DELETED') this.#checker.gone(pod.metadata?.uid ?? '', revision, by);
    else this.#checker.set({ pod, revision }, by);
  }

  #checkWrite({ id, verb, uid, isAwaited }: ManagerWrite, type: PodEvent['type'], pod: WirePod, before: WirePod): void {
    const { counts, step, violate } = this.#log;
    counts.writesLanded++;
    const what = `#${id} ${verb} on ${pod.metadata?.name} (${pod.metadata?.uid})`;
    step(() => `${what} lands, phase ${pod.status?.phase}`);
    if (uid !== pod.metadata?.uid) violate('every write names its pod', `${what} names "${uid}"`);
    if (!isAwaited) this.#lateWrites.set(pod.metadata?.uid ?? '', Number(pod.metadata?.resourceVersion));
    if (verb === 'delete') {
      this.#checker.checkDeletion(before, what);
      return;
    }
    if (type !== 'MODIFIED') violate('a patch never ends a pod', what);
    if (isDeepStrictEqual(metadata(pod), metadata(before))) return;
    const change = `${JSON.stringify(metadata(before))} became ${JSON.stringify(metadata(pod))}`;
    violate('no other writer’s data is touched', `${what}: metadata ${change}`);
  }
}

function metadata({ metadata = {} }: WirePod): object {
  const { resourceVersion: _, ...rest } = metadata;
  return rest;
}
