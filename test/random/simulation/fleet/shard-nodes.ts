import type { FleetPods, PodCopies } from './fleet-pods.ts';
import { notBound } from './fleet-pods.ts';
import type { NodesBreakage } from './mutants.ts';
import type { Creation, PodStates } from './pod-states.ts';
import { ShardRequests, type ShardRequestsParts } from './shard-requests.ts';

/** What the nodes ask before a write leaves the process. */
export interface WriteGuard {
  readonly isOwned: boolean;
  /** Each renewal moves it. */
  readonly deadlineMs: number;
  requireOwned(): void;
  writeLimitMs(): number;
}

/** Told of what the nodes do, as it happens. `isLate`: after they have given it up. */
export interface WriteWitness {
  /** The guard has let a write or a creation go, and it leaves the process. */
  sent(): void;
  /** The server has taken a status. */
  taken(version: { readonly before: number; readonly now: number }, isLate: boolean): void;
  /** The cloud has got a creation. */
  created(pod: number, what: Creation, isLate: boolean): void;
}

export interface ShardNodesParts extends ShardRequestsParts {
  readonly shard: number;
  /** The nodes of the shard, by their numbers. */
  readonly nodes: readonly number[];
  readonly term: WriteGuard;
  readonly table: FleetPods;
  readonly states: PodStates;
  readonly witness: WriteWitness;
  readonly count: (what: string) => void;
  readonly breakage: NodesBreakage;
}

const requestTimeoutMs = 10_000;
/** The copy of a pod is of no use: it is read before the next write. */
const unknownVersion = -2;
/** Whether the cloud has a pod: `unknown` after a creation of whose answer nobody knows. */
const inCloud = { no: 0, yes: 1, unknown: 2 } as const;

/**
 * The nodes of one shard in one process, in few words: they list their pods on the server and in the cloud first, create what is not
 * there, and write the state of a pod as its status, with the revision that they have read, until it is on the server. What fails is
 * tried again. The guard is asked when a write leaves the process, after the queue.
 */
export class ShardNodes {
  readonly #parts: ShardNodesParts;
  readonly #requests: ShardRequests;
  readonly #places: ReadonlyMap<number, number>;
  readonly #leave: () => void;
  /** What is known of the pods on the server, and whether the cloud has them; undefined until both were listed. */
  #known: { readonly copies: PodCopies; readonly cloud: Uint8Array } | undefined;
  readonly #underWay = new Set<number>();
  /** What has changed before both were listed. */
  readonly #changed = new Set<number>();
  readonly #drained = Promise.withResolvers<void>();
  #state: 'running' | 'draining' | 'closing' | 'ended' = 'running';

  constructor(parts: ShardNodesParts) {
    this.#parts = parts;
    const { shard, nodes, states, process } = parts;
    this.#requests = new ShardRequests(parts);
    this.#places = new Map(nodes.map((node, place) => [node, place]));
    this.#leave = states.listen(shard, (pod) => process.run(() => this.#told(pod)));
    this.#list();
  }

  get term(): WriteGuard {
    return this.#parts.term;
  }

  /** True while something of the shard runs here. */
  get isRunning(): boolean {
    return this.#state !== 'ended';
  }

  get isDraining(): boolean {
    return this.#state === 'draining' || this.#state === 'closing';
  }

  /** Writes what is left. Resolves when nothing is under way any more. */
  drain(): Promise<void> {
    if (this.#state !== 'running') return this.#drained.promise;
    this.#state = 'draining';
    const close = (): void => {
      this.#state = 'closing';
      this.#lookDrained();
    };
    this.#requests.later(close, this.#parts.prng.between(20, 1500));
    return this.#drained.promise;
  }

  /** Ends at once. What is under way is given up; what has left the process cannot be called back. */
  end(): void {
    this.#state = 'ended';
    this.#leave();
    this.#requests.end();
    this.#drained.resolve();
  }

  #lookDrained(): void {
    if (this.#state === 'closing' && this.#underWay.size === 0) this.end();
  }

  /** Both lists come before the first write: a new owner goes on where the old one has ended. */
  #list(): void {
    const { table, states, nodes, breakage } = this.#parts;
    const again = (): void => this.#tryAgain(() => this.#list());
    this.#ask('server', again, () => {
      const copies = table.list(nodes);
      return () => {
        if (breakage.trustsStatuses === true) this.#adopt(copies, copies.versions);
        else
          this.#ask('cloud', again, () => {
            const running = states.list(nodes);
            return () => this.#adopt(copies, running);
          });
      };
    });
  }

  #adopt(copies: PodCopies, running: Int32Array): void {
    const { nodes, table, states, breakage } = this.#parts;
    this.#known = { copies, cloud: Uint8Array.from(running, (state) => (state > 0 ? inCloud.yes : inCloud.no)) };
    if (breakage.forgetsEarly === true) return;
    for (const [place, node] of nodes.entries())
      for (let number = 0; number < table.podsPerNode; number++) {
        const pod = node * table.podsPerNode + number;
        const version = copies.versions[place * table.podsPerNode + number] ?? notBound;
        if (version !== notBound && (version === 0 || version !== states.of(pod))) this.#sync(pod);
      }
    for (const pod of this.#changed) this.#told(pod);
    this.#changed.clear();
  }

  /** A pod is new on the server, or has changed in the cloud. */
  #told(pod: number): void {
    if (this.#known === undefined) this.#changed.add(pod);
    if (this.#known === undefined || this.#underWay.has(pod)) return;
    if (this.#copyOf(pod).version === notBound) this.#setCopy(pod, unknownVersion, 0);
    this.#sync(pod);
  }

  /** One step towards what the pod's status is to be. */
  #sync(pod: number): void {
    if (this.#state === 'ended' || this.#state === 'closing') return;
    const { version } = this.#copyOf(pod);
    const cloud = this.#known?.cloud[this.#placeOf(pod)];
    if (version === notBound) return;
    if (version === unknownVersion) this.#read(pod);
    else if (cloud === inCloud.unknown) this.#lookInCloud(pod);
    else if (cloud === inCloud.no) this.#create(pod);
    else if (version !== this.#parts.states.of(pod)) this.#write(pod);
  }

  #read(pod: number): void {
    this.#underWay.add(pod);
    this.#ask(
      'server',
      () => this.#failed(pod),
      () => {
        const { version, revision } = this.#parts.table.read(pod);
        return () => {
          this.#setCopy(pod, version, revision);
          this.#settled(pod);
        };
      },
    );
  }

  #lookInCloud(pod: number): void {
    this.#underWay.add(pod);
    this.#ask(
      'cloud',
      () => this.#failed(pod),
      () => {
        const state = this.#parts.states.of(pod);
        return () => {
          this.#setInCloud(pod, state > 0 ? inCloud.yes : inCloud.no);
          this.#settled(pod);
        };
      },
    );
  }

  #create(pod: number): void {
    const { states, witness, breakage, term } = this.#parts;
    this.#underWay.add(pod);
    const send = (): void => {
      witness.sent();
      this.#requests.send({
        to: 'cloud',
        limitMs: Math.min(requestTimeoutMs, term.writeLimitMs()),
        failed: () => {
          this.#setInCloud(pod, inCloud.unknown);
          this.#failed(pod);
        },
        arrive: (isLate) => {
          witness.created(pod, states.create(pod, isLate), isLate);
          return () => {
            this.#setInCloud(pod, inCloud.yes);
            this.#settled(pod);
          };
        },
      });
    };
    if (breakage.createsUnasked === true) send();
    else this.#inTurn(pod, send);
  }

  #write(pod: number): void {
    const { states, table, witness, count, term, breakage } = this.#parts;
    this.#underWay.add(pod);
    this.#inTurn(pod, () => {
      const { revision } = this.#copyOf(pod);
      // the newest state, when it is sent
      const version = states.of(pod);
      witness.sent();
      this.#requests.send({
        to: 'server',
        limitMs: Math.min(requestTimeoutMs, term.writeLimitMs()),
        failed: () => {
          if (breakage.forgetsFailed === true) this.#setCopy(pod, version, revision + 1);
          else this.#setCopy(pod, unknownVersion, 0);
          this.#failed(pod);
        },
        arrive: (isLate) => {
          const before = table.write(pod, breakage.takesAnyRevision === true ? table.read(pod).revision : revision, version);
          if (before === undefined) {
            count('write refused for its revision');
            return () => {
              this.#setCopy(pod, unknownVersion, 0);
              this.#settled(pod);
            };
          }
          count('write taken');
          witness.taken({ before, now: version }, isLate);
          return () => {
            this.#setCopy(pod, version, revision + 1);
            this.#settled(pod);
          };
        },
      });
    });
  }

  /** After the queue, and only with the guard's leave. */
  #inTurn(pod: number, send: () => void): void {
    const { prng, weather, count, breakage } = this.#parts;
    const isLetEarly = breakage.asksEarly === true ? this.#isLet() : undefined;
    const turn = (): void => {
      if (isLetEarly ?? this.#isLet()) {
        send();
        return;
      }
      count('write kept back by its guard');
      this.#failed(pod);
    };
    if (weather.queueMs === 0) turn();
    else this.#requests.later(turn, prng.between(0, weather.queueMs));
  }

  #isLet(): boolean {
    try {
      this.#parts.term.requireOwned();
      return true;
    } catch {
      return false;
    }
  }

  #ask(to: 'server' | 'cloud', failed: () => void, arrive: () => () => void): void {
    this.#requests.send({ to, limitMs: requestTimeoutMs, failed, arrive });
  }

  #settled(pod: number): void {
    this.#underWay.delete(pod);
    this.#sync(pod);
    this.#lookDrained();
  }

  #failed(pod: number): void {
    this.#underWay.delete(pod);
    this.#tryAgain(() => this.#told(pod));
    this.#lookDrained();
  }

  #tryAgain(what: () => void): void {
    this.#requests.later(what, this.#parts.prng.between(1000, 3000));
  }

  #placeOf(pod: number): number {
    const { podsPerNode } = this.#parts.table;
    return (this.#places.get(Math.floor(pod / podsPerNode)) ?? 0) * podsPerNode + (pod % podsPerNode);
  }

  #copyOf(pod: number): { readonly version: number; readonly revision: number } {
    const { versions, revisions } = this.#known?.copies ?? {};
    const place = this.#placeOf(pod);
    return { version: versions?.[place] ?? notBound, revision: revisions?.[place] ?? 0 };
  }

  #setCopy(pod: number, version: number, revision: number): void {
    const { versions, revisions } = this.#known?.copies ?? {};
    const place = this.#placeOf(pod);
    if (versions !== undefined) versions[place] = version;
    if (revisions !== undefined) revisions[place] = revision;
  }

  #setInCloud(pod: number, value: number): void {
    if (this.#known !== undefined) this.#known.cloud[this.#placeOf(pod)] = value;
  }
}
