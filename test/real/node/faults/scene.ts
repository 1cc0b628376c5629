import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prng } from '../../../random/chaos/prng.ts';
import type { AdminClient } from '../../../support/admin-client.ts';
import type { ServedPod } from '../../../support/answers.ts';
import { type Injury, type PodEvidence, parseWitness } from './evidence.ts';
import type { AgentProcess, FullDisk, KitProcesses } from './kit-processes.ts';
import { leftoversOf, type PodProcess, podProcesses, uptime } from './node-scan.ts';
import { type PlannedPod, plannedPod, secretText } from './workload.ts';

interface KnownPod {
  readonly plan: PlannedPod;
  readonly uid: string;
  readonly createdAt: number;
  deletedAt: number | undefined;
  goneAt: number | undefined;
  runningWhenGone: number;
  latest: ServedPod | undefined;
}

export interface SceneOptions {
  readonly admin: AdminClient;
  readonly agent: AgentProcess;
  readonly kit: KitProcesses;
  /** Undefined: the disk of the agent cannot be filled. */
  readonly disk: FullDisk | undefined;
  /** A folder of the node that containers write into. */
  readonly witness: string;
  readonly rootDirectory: string;
}

/** The pods of one seed, and what has happened to them. */
export class Scene {
  readonly agent: AgentProcess;
  readonly kit: KitProcesses;
  readonly disk: FullDisk | undefined;
  readonly injuries: Injury[] = [];
  readonly agentKills: number[] = [];
  readonly #options: SceneOptions;
  readonly #namespace: string;
  readonly #pods: KnownPod[] = [];

  private constructor(options: SceneOptions, namespace: string) {
    this.#options = options;
    this.agent = options.agent;
    this.kit = options.kit;
    this.disk = options.disk;
    this.#namespace = namespace;
  }

  static async open(options: SceneOptions): Promise<Scene> {
    await mkdir(options.witness, { recursive: true });
    const namespace = await options.admin.createNamespace('faults');
    const secret = { metadata: { name: 'marked' }, stringData: { text: secretText } };
    await insist(() => options.admin.send('POST', `/api/v1/namespaces/${namespace}/secrets`, { body: secret }));
    const scene = new Scene(options, namespace);
    void scene.#watch();
    return scene;
  }

  readonly note = {
    agentKill: async (): Promise<void> => {
      this.agentKills.push(await uptime());
    },
  };

  readonly createPod = async (prng: Prng): Promise<void> => {
    const plan = plannedPod(`pod-${this.#pods.length}`, prng, this.#options.witness);
    const createdAt = await uptime();
    // what is refused while the apiserver hangs is tried again
    const { body } = await insist(() => this.#options.admin.createPod(this.#namespace, plan.manifest));
    const { uid } = (body as ServedPod).metadata;
    this.#pods.push({ plan, uid, createdAt, deletedAt: undefined, goneAt: undefined, runningWhenGone: 0, latest: undefined });
  };

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
    const processes = await podProcesses();
    return Promise.all(this.#pods.map((pod) => this.#evidenceOf(pod, processes)));
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
      const leftovers = goneAt === undefined ? [] : await leftoversOf(uid, this.#options.rootDirectory);
      return [uid, { ...(goneAt !== undefined && { goneAt }), runningWhenGone, leftovers }] as const;
    });
    return new Map(await Promise.all(rows));
  }

  async #delete(pod: KnownPod): Promise<void> {
    pod.deletedAt = await uptime();
    await insist(() => this.#options.admin.deletePod(this.#namespace, pod.plan.name), [200, 202, 404]);
  }

  async #kill(prng: Prng, isMeant: (process: PodProcess) => boolean): Promise<void> {
    const mine = new Map(this.#pods.filter(({ deletedAt }) => deletedAt === undefined).map((pod) => [pod.uid, pod]));
    const victim = prng.pick((await podProcesses()).filter((one) => mine.has(one.podUID) && isMeant(one)));
    if (victim === undefined) return;
    const { podUID, container } = victim;
    this.injuries.push({ podUID, ...(container !== undefined && { container }), at: await uptime() });
    try {
      process.kill(victim.pid, 'SIGKILL');
    } catch {
      // it has ended by itself meanwhile
    }
  }

  async #watch(): Promise<void> {
    for (;;) {
      try {
        await this.#list();
        for await (const event of this.#options.admin.watchPods(this.#namespace)) {
          if (event.type === 'ERROR') break;
          const pod = await this.#known(event.object.metadata.uid);
          if (pod === undefined) continue;
          if (event.type === 'DELETED') await this.#gone(pod);
          else pod.latest = event.object;
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
      if (there.has(pod.uid)) pod.latest = there.get(pod.uid);
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

  async #gone(pod: KnownPod): Promise<void> {
    pod.goneAt = await uptime();
    pod.runningWhenGone = (await podProcesses()).filter(({ podUID, container }) => podUID === pod.uid && container).length;
  }

  async #evidenceOf(pod: KnownPod, processes: readonly PodProcess[]): Promise<PodEvidence> {
    const { plan, uid, createdAt, deletedAt, goneAt, runningWhenGone, latest } = pod;
    const witness: Record<string, ReturnType<typeof parseWitness>> = {};
    for (const { name } of plan.containers) {
      const text = await readFile(join(this.#options.witness, `${uid}.${name}`), 'utf8').catch(() => '');
      witness[name] = parseWitness(text);
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
