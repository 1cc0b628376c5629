import type { Prng } from '../../../random/chaos/prng.ts';
import type { AdminClient } from '../../../support/admin-client.ts';
import type { ServedPod } from '../../../support/answers.ts';
import { type Eviction, type Injury, type PodEvidence, parseWitness, type Span } from './evidence.ts';
import type { PodProcess } from './node-scan.ts';
import { type PlannedPod, plannedPod, secretText } from './workload.ts';

interface KnownPod {
  readonly plan: PlannedPod;
  readonly uid: string;
  readonly createdAt: number;
  deletedAt: number | undefined;
  goneAt: number | undefined;
  runningWhenGone: number;
  latest: ServedPod | undefined;
  /** Without its events. */
  eviction: Omit<Eviction, 'events'> | undefined;
}

const unseen = { latest: undefined, eviction: undefined };

/** What a scene sees of the node, and does to it. */
export interface NodeHands {
  /** Seconds that only grow, over boots of the node, too. Containers count the same. */
  uptime(): Promise<number>;
  podProcesses(): Promise<readonly PodProcess[]>;
  /** What the node still has of a pod, in words. */
  leftoversOf(podUID: string): Promise<readonly string[]>;
  /** The text of a file of the witness folder; empty where there is none. */
  readWitness(name: string): Promise<string>;
  kill(pid: number): Promise<void>;
  /** The files below the agent's folder that hold a text. */
  filesWith(text: string): Promise<readonly string[]>;
  /** Ends all that runs, and boots. Undefined: it cannot. */
  reboot?(): Promise<void>;
}

/** The agent, started and killed at will. */
export interface SceneAgent {
  start(): Promise<void>;
  kill(): Promise<void>;
  /** How it ended by itself; undefined while it did not. */
  ended(): Promise<string | undefined>;
}

/** The components around the agent. */
export interface SceneComponents {
  /** Stops the apiserver as it is, and lets it go on. */
  signal(name: 'kube-apiserver', signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills the runtime, starts it again after a while, and waits until it answers. */
  restart(name: 'containerd', awayMs: number): Promise<void>;
}

/** The disk of the agent. */
export interface SceneDisk {
  fill(): Promise<void>;
  free(): Promise<void>;
}

export interface SceneOptions {
  readonly admin: AdminClient;
  readonly agent: SceneAgent;
  readonly kit: SceneComponents;
  readonly node: NodeHands;
  readonly nodeName: string;
  /** Undefined: the disk of the agent cannot be filled. */
  readonly disk: SceneDisk | undefined;
  /** The agent's setting evictionPressureTransitionPeriod. */
  readonly pressureSeconds: number;
  /** A folder of the node that containers write into. */
  readonly witness: string;
}

/** The pods of one seed, and what has happened to them. */
export class Scene {
  readonly agent: SceneAgent;
  readonly kit: SceneComponents;
  readonly disk: SceneDisk | undefined;
  readonly node: NodeHands;
  readonly injuries: Injury[] = [];
  readonly agentKills: number[] = [];
  readonly runtimeAways: Span[] = [];
  readonly fullDisks: Span[] = [];
  readonly #options: SceneOptions;
  readonly #namespace: string;
  readonly #pods: KnownPod[] = [];
  #isClosed = false;

  private constructor(options: SceneOptions, namespace: string) {
    this.#options = options;
    this.agent = options.agent;
    this.kit = options.kit;
    this.disk = options.disk;
    this.node = options.node;
    this.#namespace = namespace;
  }

  static async open(options: SceneOptions): Promise<Scene> {
    const namespace = await options.admin.createNamespace('faults');
    const secret = { metadata: { name: 'marked' }, stringData: { text: secretText } };
    await insist(() => options.admin.send('POST', `/api/v1/namespaces/${namespace}/secrets`, { body: secret }));
    const scene = new Scene(options, namespace);
    void scene.#watch();
    return scene;
  }

  readonly note = {
    agentKill: async (): Promise<void> => {
      this.agentKills.push(await this.node.uptime());
    },
    /** Whatever ran was killed, and so was the agent. */
    reboot: async (): Promise<void> => {
      const at = await this.node.uptime();
      this.agentKills.push(at);
      for (const { uid, deletedAt } of this.#pods) if (deletedAt === undefined) this.injuries.push({ podUID: uid, at });
    },
  };

  readonly createPod = async (prng: Prng): Promise<void> => {
    const plan = plannedPod(`pod-${this.#pods.length}`, prng, this.#options);
    const createdAt = await this.node.uptime();
    // what is refused while the apiserver hangs is tried again
    const { body } = await insist(() => this.#options.admin.createPod(this.#namespace, plan.manifest));
    const { uid } = (body as ServedPod).metadata;
    this.#pods.push({ plan, uid, createdAt, deletedAt: undefined, goneAt: undefined, runningWhenGone: 0, ...unseen });
  };

  readonly restartRuntime = async (awayMs: number): Promise<void> => {
    const from = await this.node.uptime();
    await this.kit.restart('containerd', awayMs);
    this.runtimeAways.push({ from, to: await this.node.uptime() });
  };

  /** Fills the disk, does something, and gives the room back. */
  readonly whileDiskFull = async (disk: SceneDisk, act: () => Promise<void>): Promise<void> => {
    const from = await this.node.uptime();
    await disk.fill();
    await act();
    await disk.free();
    this.fullDisks.push({ from, to: await this.node.uptime() });
  };

  /** How many pods say that they were evicted. */
  get evicted(): number {
    return this.#pods.filter(({ eviction }) => eviction !== undefined).length;
  }

  readonly deletePod = async (prng: Prng): Promise<void> => {
    const pod = prng.pick(this.#pods.filter(({ deletedAt }) => deletedAt === undefined));
    if (pod !== undefined) await this.#delete(pod);
  };

  readonly killContainer = async (prng: Prng): Promise<void> => {
    await this.#kill(prng, ({ container, isFirst }) => container !== undefined && isFirst);
  };

  readonly killSandbox = async (prng: Prng): Promise<void> => {
    await this.#kill(prng, ({ container }) => container === undefined);
  };

  /** What the apiserver says last, with what runs. Undefined while a pod has not come to what it is to be. */
  async evidence(): Promise<PodEvidence[]> {
    const processes = await this.node.podProcesses();
    const evictions = await this.#evictedEvents();
    return Promise.all(this.#pods.map((pod) => this.#evidenceOf(pod, processes, evictions.get(pod.uid) ?? [])));
  }

  async deleteAll(): Promise<void> {
    for (const pod of this.#pods) if (pod.deletedAt === undefined) await this.#delete(pod);
  }

  get allGone(): boolean {
    return this.#pods.every(({ goneAt }) => goneAt !== undefined);
  }

  /** By uid, of every pod there was; undefined `goneAt` of one that does not go. */
  async afterwards(): Promise<Map<string, Pick<PodEvidence, 'goneAt' | 'runningWhenGone' | 'leftovers'>>> {
    const rows = this.#pods.map(async ({ uid, goneAt, runningWhenGone }) => {
      const leftovers = goneAt === undefined ? [] : await this.node.leftoversOf(uid);
      return [uid, { ...(goneAt !== undefined && { goneAt }), runningWhenGone, leftovers }] as const;
    });
    return new Map(await Promise.all(rows));
  }

  async #delete(pod: KnownPod): Promise<void> {
    pod.deletedAt = await this.node.uptime();
    await insist(() => this.#options.admin.deletePod(this.#namespace, pod.plan.name), [200, 202, 404]);
  }

  async #kill(prng: Prng, isMeant: (process: PodProcess) => boolean): Promise<void> {
    const mine = new Map(this.#pods.filter(({ deletedAt }) => deletedAt === undefined).map((pod) => [pod.uid, pod]));
    const victim = prng.pick((await this.node.podProcesses()).filter((one) => mine.has(one.podUID) && isMeant(one)));
    if (victim === undefined) return;
    const { podUID, container } = victim;
    this.injuries.push({ podUID, ...(container !== undefined && { container }), at: await this.node.uptime() });
    await this.node.kill(victim.pid);
  }

  /** Ends the watch, once what it has is read. */
  close(): void {
    this.#isClosed = true;
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#list();
        for await (const event of this.#options.admin.watchPods(this.#namespace)) {
          if (event.type === 'ERROR' || this.#isClosed) break;
          const pod = await this.#known(event.object.metadata.uid);
          if (pod === undefined) continue;
          if (event.type === 'DELETED') await this.#gone(pod);
          else await this.#told(pod, event.object);
        }
      } catch {
        // the apiserver is away
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** A pod that is gone already when the watch begins. */
  async #list(): Promise<void> {
    const { body } = await insist(() => this.#options.admin.listPods(this.#namespace));
    const items = (body as { readonly items: readonly ServedPod[] }).items;
    const there = new Map(items.map((pod) => [pod.metadata.uid, pod]));
    for (const pod of this.#pods) {
      const served = there.get(pod.uid);
      if (served !== undefined) await this.#told(pod, served);
      else if (pod.deletedAt !== undefined && pod.goneAt === undefined) await this.#gone(pod);
    }
  }

  /** The answer that names the uid may be behind the watch. */
  async #known(uid: string): Promise<KnownPod | undefined> {
    for (let tries = 0; tries < 20; tries++) {
      const pod = this.#pods.find((each) => each.uid === uid);
      if (pod !== undefined) return pod;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return undefined;
  }

  async #told(pod: KnownPod, served: ServedPod): Promise<void> {
    pod.latest = served;
    const { phase = '', reason, message = '', conditions = [] } = served.status;
    if (reason !== 'Evicted' || pod.eviction !== undefined) return;
    const disruption = conditions.find(({ type }) => type === 'DisruptionTarget');
    const isDisruption = disruption?.status === 'True' && disruption.reason === 'TerminationByKubelet';
    pod.eviction = { at: await this.node.uptime(), phase, message, isDisruption };
  }

  /** By uid, what events with the reason Evicted say. */
  async #evictedEvents(): Promise<Map<string, string[]>> {
    if (this.evicted === 0) return new Map();
    const query = { fieldSelector: 'reason=Evicted' };
    const { body } = await insist(() =>
      this.#options.admin.send('GET', `/api/v1/namespaces/${this.#namespace}/events`, { query }),
    );
    const { items } = body as { readonly items: readonly { involvedObject: { uid: string }; message: string }[] };
    const byPod = Map.groupBy(items, ({ involvedObject }) => involvedObject.uid);
    return new Map([...byPod].map(([uid, events]) => [uid, events.map(({ message }) => message)]));
  }

  async #gone(pod: KnownPod): Promise<void> {
    pod.goneAt = await this.node.uptime();
    pod.runningWhenGone = (await this.node.podProcesses()).filter(
      ({ podUID, container }) => podUID === pod.uid && container,
    ).length;
  }

  async #evidenceOf(pod: KnownPod, processes: readonly PodProcess[], events: readonly string[]): Promise<PodEvidence> {
    const { plan, uid, createdAt, deletedAt, goneAt, runningWhenGone, latest, eviction } = pod;
    const witness: Record<string, ReturnType<typeof parseWitness>> = {};
    for (const { name } of plan.containers) {
      witness[name] = parseWitness(await this.node.readWitness(`${uid}.${name}`));
    }
    const own = processes.filter(({ podUID, isFirst }) => podUID === uid && isFirst);
    const final = deletedAt === undefined && latest !== undefined ? finalOf(latest) : undefined;
    return {
      ...{ uid, name: plan.name, kind: plan.kind, restarts: plan.restarts, createdAt, containers: plan.containers },
      ...{ runningWhenGone, witness, leftovers: [] },
      runningAtEnd: own.flatMap(({ container }) => container ?? []),
      ...(deletedAt !== undefined && { deletedAt }),
      ...(goneAt !== undefined && { goneAt }),
      ...(final !== undefined && { final }),
      ...(eviction !== undefined && { eviction: { ...eviction, events } }),
    };
  }
}

function finalOf({ status }: ServedPod): NonNullable<PodEvidence['final']> {
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  const containers = all.map(({ name, restartCount, ready, state, lastState }) => {
    const how = state?.running ? 'running' : state?.terminated ? 'terminated' : 'waiting';
    const [exitCode, lastExitCode] = [state?.terminated?.exitCode, lastState?.terminated?.exitCode];
    const codes = { ...(exitCode !== undefined && { exitCode }), ...(lastExitCode !== undefined && { lastExitCode }) };
    return [name, { restartCount, ready, state: how, ...codes }] as const;
  });
  return { phase: status.phase ?? '', containers: Object.fromEntries(containers) };
}

/** Tries again until the apiserver agrees, for at most a minute. */
async function insist<T extends { readonly status: number; readonly body: unknown }>(
  ask: () => Promise<T>,
  good: readonly number[] = [200, 201, 202],
): Promise<T> {
  let said: unknown;
  for (let tries = 0; tries < 300; tries++) {
    const answer = await ask().catch((error: unknown) => {
      said = error;
      return undefined;
    });
    if (answer !== undefined && good.includes(answer.status)) return answer;
    if (answer !== undefined) said = JSON.stringify(answer.body);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`The apiserver does not agree: ${said}`);
}
