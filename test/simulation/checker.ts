import { isDeepStrictEqual } from 'node:util';
import { isMirrorPod, type WirePod, type WirePodCondition, type WirePodStatus } from '../../src/index.ts';
import type { PodEvent } from '../../src/testing.ts';
import { ownerOfStatic, type PodLife } from './pod-life.ts';
import type { RunLog } from './run-log.ts';
import type { ManagerWrite, SimulatedServer } from './simulated-server.ts';
import type { Truth } from './truth.ts';

/** Condition types that the manager may write; all others belong to somebody else. */
export const ownTypes: ReadonlySet<string> = new Set([
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'simulation.example/Own',
]);

export function markOf(status: WirePodStatus | undefined): number {
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

export function isTerminal(status: WirePodStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whose marks may stand on this object of the apiserver. */
export function ownerOf(pod: WirePod): string {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  return isMirrorPod(pod) ? ownerOfStatic(namespace, name) : uid;
}

/** Looks at every change the manager makes on the server, at the moment it lands. */
export class Checker {
  readonly #server: SimulatedServer;
  readonly #truth: Truth;
  readonly #log: RunLog;

  constructor(server: SimulatedServer, truth: Truth, log: RunLog) {
    this.#server = server;
    this.#truth = truth;
    this.#log = log;
    server.store.watch((event) => this.#check(event));
  }

  #check({ type, object, previous }: PodEvent): void {
    const { writer } = this.#server;
    if (writer === undefined || previous === undefined) return;
    this.#log.counts.writesLanded++;
    const what = `#${writer.id} ${writer.verb} on ${object.metadata?.name} (${object.metadata?.uid})`;
    this.#require(writer.uid === object.metadata?.uid, 'every write names its pod', `${what} names "${writer.uid}"`);
    if (writer.verb === 'delete') this.#checkDelete(what, previous);
    else if (type === 'MODIFIED') this.#checkPatch(what, writer, object, previous);
    else this.#require(false, 'a patch never ends a pod', what);
  }

  #checkPatch(what: string, { id }: ManagerWrite, pod: WirePod, before: WirePod): void {
    const [mark, old] = [markOf(pod.status), markOf(before.status)];
    this.#log.step(() => `#${id} lands on ${pod.metadata?.name}: mark ${old} -> ${mark}, phase ${pod.status?.phase}`);
    this.#require(mark >= old, 'nothing older lands after something newer', `${what}: mark ${mark} over ${old}`);
    const message = messageMark(pod.status);
    const saysOlder = message < messageMark(before.status);
    this.#require(!saysOlder, 'nothing older lands after something newer', `${what}: message m${message} is older than before`);
    const owner = ownerOf(pod);
    const strange = [mark, message].find((m) => m !== 0 && this.#truth.mark(m)?.owner !== owner);
    const why = `${what}: mark ${strange} was set for ${this.#truth.mark(strange ?? 0)?.owner}`;
    this.#require(strange === undefined, 'no other pod is touched', why);
    this.#checkForeign(what, pod, before);
    this.#checkPhase(what, pod, before, mark);
  }

  #checkForeign(what: string, pod: WirePod, before: WirePod): void {
    const rule = 'no other writer’s data is touched';
    const [now, then] = [foreign(pod.status), foreign(before.status)];
    this.#require(now === then, rule, `${what}: conditions ${then} became ${now}`);
    this.#require(
      pod.spec === before.spec || JSON.stringify(pod.spec) === JSON.stringify(before.spec),
      rule,
      `${what}: the spec changed`,
    );
    const [meta, oldMeta] = [metadata(pod), metadata(before)];
    const same = isDeepStrictEqual(meta, oldMeta);
    this.#require(same, rule, `${what}: metadata ${JSON.stringify(oldMeta)} became ${JSON.stringify(meta)}`);
    this.#require(pod.status?.qosClass === before.status?.qosClass, rule, `${what}: qosClass changed`);
  }

  #checkPhase(what: string, pod: WirePod, before: WirePod, mark: number): void {
    if (isTerminal(before.status)) {
      const takenBack = !isTerminal(pod.status) && this.#truth.mark(mark)?.terminal === true;
      this.#require(!takenBack, 'a terminal phase stays', what);
      return;
    }
    if (!isTerminal(pod.status)) return;
    const life = this.#lifeOf(pod);
    this.#require(life === undefined || !life.couldRun, 'no terminal phase while containers could run', what);
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    this.#require(ready !== 'True', 'a terminal pod is never Ready', what);
  }

  #checkDelete(what: string, pod: WirePod): void {
    const rule = 'only what has ended is deleted';
    const life = this.#lifeOf(pod);
    this.#require(pod.metadata?.deletionTimestamp !== undefined, rule, `${what}: nobody asked for it`);
    this.#require(!isMirrorPod(pod), rule, `${what}: it is a mirror pod`);
    this.#require(isTerminal(pod.status), rule, `${what}: its phase is ${pod.status?.phase}`);
    const isOver = life !== undefined && !life.couldRun && life.reclaimed && (life.finished || life.deletionSeen);
    this.#require(isOver, rule, `${what}: it is not over on the node`);
  }

  #lifeOf(pod: WirePod): PodLife | undefined {
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    if (!isMirrorPod(pod)) return this.#truth.life(uid);
    return this.#truth.lives().find((life) => life.owner === ownerOfStatic(namespace, name));
  }

  #require(holds: boolean, rule: string, detail: string): void {
    if (!holds) this.#log.violate(rule, detail);
  }
}

function messageMark(status: WirePodStatus | undefined): number {
  return Number(/^m(\d+)$/.exec(status?.message ?? '')?.[1] ?? 0);
}

function foreign(status: WirePodStatus | undefined): string {
  return JSON.stringify(status?.conditions?.filter(({ type }: WirePodCondition) => !ownTypes.has(type)) ?? []);
}

function metadata({ metadata = {} }: WirePod): object {
  const { resourceVersion: _, ...rest } = metadata;
  return rest;
}
