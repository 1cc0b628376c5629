import type { Pod, WireLease, WireNode } from '../../../../../src/api/json/types.ts';
import { shardOf } from '../../../../../src/fleet.ts';
import { buildPod } from '../../../../../src/testing.ts';
import { Prng } from '../../../chaos/prng.ts';
import type { SeededOptions, SeededResult } from '../../seeded-runs.ts';
import { SimulatedClock } from '../../simulated-clock.ts';
import { epochMs } from '../../simulated-server.ts';
import { FleetObjects } from '../fleet-objects.ts';
import type { FleetRule } from '../fleet-rules.ts';
import { FleetStorm, fairWeather } from '../fleet-storm.ts';
import { fleetName, fleetNamespace } from '../fleet-world.ts';
import { holds } from '../ownership-judge.ts';
import { SimulatedCloud, stateIn } from './simulated-cloud.ts';
import type { WholeFleetMutant } from './whole-fleets-kind.ts';
import { WholeMember } from './whole-member.ts';

export interface WholeFleetResult extends SeededResult {
  readonly violation: { readonly rule: FleetRule; readonly detail: string; readonly atMs: number } | undefined;
}

const nodes = Array.from({ length: 6 }, (_, number) => `node-${number}`);
const shards = 4;
const mostMembers = 3;
const podsPath = '/api/v1/namespaces/default/pods';
const inStepMs = 90_000;
/** So long a node stays Ready while its pods cannot be listed. */
const patienceMs = 30_000;

/** One run of whole `NodeFleet`s in virtual time: few nodes and pods, and everything that a process of a fleet does. */
export async function simulateWholeFleet({ seed, minutes, mutant }: SeededOptions<WholeFleetMutant>): Promise<WholeFleetResult> {
  const clock = new SimulatedClock();
  const world = new WholeWorld(clock, new Prng(seed).fork('whole fleet'), mutant?.isUnguarded === true);
  let isOver = false;
  world.run(minutes).then(
    () => {
      isOver = true;
    },
    (error: unknown) => world.found('nothing unforeseen happens', error instanceof Error ? `${error.stack}` : String(error)),
  );
  await clock.runUntil(minutes * 60_000 + 600_000, () => isOver || world.violation !== undefined);
  if (!isOver && world.violation === undefined) world.found('nothing unforeseen happens', 'the run did not end');
  const { counts, faults, violation } = world;
  return { seed, simulatedMs: clock.elapsedMs, steps: clock.turn, counts, faults, convergedInMs: undefined, violation };
}

class WholeWorld {
  readonly counts = new Map<string, number>();
  readonly faults = new Map<string, number>();
  readonly #clock: SimulatedClock;
  readonly #prng: Prng;
  readonly #isUnguarded: boolean;
  readonly #serverWeather = { ...fairWeather };
  readonly #objects: FleetObjects;
  readonly #cloud: SimulatedCloud;
  readonly #members = new Set<WholeMember>();
  readonly #states = new Map<string, number>();
  readonly #ready = new Set<string>();
  readonly #stops = new Set<Promise<void>>();
  #ids = 0;
  #pods = 0;
  #isChanging = true;
  #calmSinceMs = Number.POSITIVE_INFINITY;
  #violation: WholeFleetResult['violation'];

  constructor(clock: SimulatedClock, prng: Prng, isUnguarded: boolean) {
    this.#isUnguarded = isUnguarded;
    this.#clock = clock;
    this.#prng = prng;
    this.#objects = new FleetObjects(clock, prng.fork('server'), this.#serverWeather);
    const doubled = (uid: string): void => this.found('no pod is created twice', uid);
    this.#cloud = new SimulatedCloud({ doubled, count: (what) => this.count(what) });
    this.#store(podsPath).watch(({ object }) => this.#judgePod(object as Pod));
    this.#store('/api/v1/nodes').watch(({ object }) => this.#judgeNode(object as WireNode));
  }

  get violation(): WholeFleetResult['violation'] {
    return this.#violation;
  }

  found(rule: FleetRule, detail: string): void {
    this.#violation ??= { rule, detail, atMs: this.#clock.elapsedMs };
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #countFault(what: string): void {
    this.faults.set(what, (this.faults.get(what) ?? 0) + 1);
  }

  async run(minutes: number): Promise<void> {
    for (const node of nodes) this.#createPod(node);
    for (let begun = 0; begun < mostMembers; begun++) this.#begin();
    this.#change();
    await this.#pause(this.#prng.between(0, 20_000));
    const untilMs = this.#clock.elapsedMs + minutes * 60_000;
    const members = (): readonly WholeMember[] => this.#living;
    const [prng, serverWeather] = [this.#prng.fork('storm'), this.#serverWeather];
    const compact = (): void => this.#objects.compact();
    const count = (what: string): void => this.#countFault(what);
    const storm = new FleetStorm({ clock: this.#clock, prng, members, serverWeather, compact, count });
    await this.#comeAndGo(untilMs);
    storm.end();
    this.#calmSinceMs = this.#clock.elapsedMs;
    await Promise.all(this.#stops);
    if (this.#living.length === 0) this.#begin();
    await this.#pause(inStepMs / 2);
    this.#isChanging = false;
    await this.#pause(inStepMs);
    this.#judgeEnd();
    for (const member of this.#living) this.#stop(member);
    await Promise.all(this.#stops);
  }

  get #living(): readonly WholeMember[] {
    return [...this.#members].filter(({ isDead }) => !isDead);
  }

  async #comeAndGo(untilMs: number): Promise<void> {
    for (;;) {
      await this.#pause(this.#prng.between(0, 20_000));
      if (this.#clock.elapsedMs >= untilMs) return;
      const member = this.#prng.pick(this.#living.filter(({ isLeaving }) => !isLeaving));
      const what = this.#prng.weighted({ crash: 2, stop: 3, begin: 5 });
      if (what === 'begin' || member === undefined) {
        if (this.#living.length < mostMembers) this.#begin();
      } else if (what === 'crash') member.crash();
      else this.#stop(member);
    }
  }

  #begin(): void {
    const id = `m${++this.#ids}`;
    this.count('member started');
    const prng = this.#prng.fork(`member ${id}`);
    const member = new WholeMember({
      clock: this.#clock,
      prng,
      id,
      wallMs: epochMs + prng.between(-2000, 2000),
      objects: this.#objects,
      cloud: this.#cloud,
      nodes,
      shards,
      nodeOf: (path) => this.#nodeOf(path),
      isUnguarded: this.#isUnguarded,
      sent: (owner, node, path) => this.#judgeSent(owner, node, path),
      found: (rule, detail) => this.found(rule, detail),
      count: (what) => this.count(what),
      countFault: (what) => this.#countFault(what),
    });
    this.#members.add(member);
    member.start();
  }

  #stop(member: WholeMember): void {
    const stopped = member.stop().finally(() => this.#stops.delete(stopped));
    this.#stops.add(stopped);
  }

  /** Pods come, change their states, and are deleted by their users. */
  #change(): void {
    this.#clock.schedule(
      () => {
        const what = this.#isChanging ? this.#prng.weighted({ change: 10, create: 2, delete: 1 }) : 'nothing';
        const uid = this.#prng.pick(this.#cloud.uids);
        if (what === 'create' && this.#store(podsPath).list().length < 3 * nodes.length)
          this.#createPod(this.#prng.pick(nodes) ?? '');
        else if (what === 'change' && uid !== undefined) this.#cloud.change(uid);
        else if (what === 'delete' && uid !== undefined) this.#delete(uid);
        this.#change();
      },
      this.#prng.between(0, 2000),
    );
  }

  #createPod(nodeName: string): void {
    const name = `pod-${++this.#pods}`;
    this.#store(podsPath).create(buildPod({ metadata: { name, uid: `uid-${name}`, namespace: 'default' }, spec: { nodeName } }));
  }

  #delete(uid: string): void {
    const key = { namespace: 'default', name: uid.replace('uid-', '') };
    if (this.#store(podsPath).has(key)) this.#store(podsPath).delete(key, {});
    this.count('pod deleted');
  }

  #judgePod({ metadata, ...pod }: Pod): void {
    const uid = metadata?.uid ?? '';
    const [before, now] = [this.#states.get(uid) ?? 0, stateIn(pod)];
    if (now < before && metadata?.deletionTimestamp === undefined)
      this.found('no status goes back', `${uid} goes from ${before} to ${now}`);
    if (now > before) this.count('status written');
    this.#states.set(uid, Math.max(before, now));
  }

  #judgeNode({ metadata, status }: WireNode): void {
    const name = metadata?.name ?? '';
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status === 'True') this.#ready.add(name);
    else if (this.#ready.delete(name)) {
      // nobody could list the pods for as long as a node is patient
      const isPatienceOver = ready?.message === 'the pod sources have not been heard yet';
      if (isPatienceOver && this.#clock.elapsedMs < this.#calmSinceMs + patienceMs) this.count('node not Ready');
      else this.found('readiness does not flap', `${name} was Ready, and is ${ready?.status}: ${ready?.message}`);
    }
  }

  #judgeSent(member: string, node: string, path: string): void {
    const shard = shardOf(node, shards);
    const key = { namespace: fleetNamespace, name: `fleet-${fleetName}-shard-${String(shard).padStart(3, '0')}` };
    const store = this.#store(`/apis/coordination.k8s.io/v1/namespaces/${fleetNamespace}/leases`);
    const lease = store.has(key) ? (store.get(key) as WireLease) : undefined;
    this.count('write of a node sent');
    if (!holds(lease, member))
      this.found(
        'a write is sent only by the member that the Lease names',
        `${member}: ${path}, shard ${shard} of "${lease?.spec?.holderIdentity ?? ''}"`,
      );
  }

  /** Each pod on the server has the status of its state, and no pod runs that is not there. */
  #judgeEnd(): void {
    const pods = this.#store(podsPath).list() as readonly Pod[];
    for (const { metadata, status } of pods) {
      const state = this.#cloud.stateOf(metadata?.uid ?? '');
      if (stateIn({ status }) !== state || metadata?.deletionTimestamp !== undefined)
        this.found('no status is lost', `${metadata?.name} is in state ${state}, and its status says ${status?.message}`);
    }
    const uids = new Set(pods.map(({ metadata }) => metadata?.uid));
    for (const uid of this.#cloud.uids) if (!uids.has(uid)) this.found('no status is lost', `${uid} runs, and was deleted`);
    const isUnready = nodes.filter((node) => !this.#ready.has(node));
    if (isUnready.length > 0) this.found('a shard is owned again in time', `${isUnready} are not Ready`);
  }

  #nodeOf(path: string): string | undefined {
    const own = /^\/api\/v1\/nodes\/([^/]+)/.exec(path)?.[1] ?? /kube-node-lease\/leases\/([^/]+)$/.exec(path)?.[1];
    const name = /^\/api\/v1\/namespaces\/default\/pods\/([^/]+)/.exec(path)?.[1];
    const key = { namespace: 'default', name: name ?? '' };
    if (own !== undefined || name === undefined || !this.#store(podsPath).has(key)) return own;
    return (this.#store(podsPath).get(key) as Pod).spec?.nodeName;
  }

  #store(path: string) {
    return this.#objects.target(path).store;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.schedule(resolve, ms));
  }
}
