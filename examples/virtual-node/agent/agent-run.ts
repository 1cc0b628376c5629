import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WirePod } from 'pod-status-manager';
import { NodeAgent } from 'pod-status-manager/kubelet';
import { FakeMounter, FakeRuntime, type InMemoryApiServer } from 'pod-status-manager/testing';
import type { AdminClient } from '../admin-client.ts';
import { pause } from '../pause.ts';
import { PodOwners } from '../pod-owners.ts';
import { Random } from '../random.ts';
import { disagreements } from './agent-verdict.ts';
import type { AgentSnapshot } from './agent-view.ts';
import { PodLives, pickShape, podOf } from './pod-shapes.ts';
import { ToldLives } from './told-lives.ts';

export interface AgentRunOptions {
  readonly server: InMemoryApiServer;
  readonly admin: AdminClient;
  readonly pods: number;
  readonly seconds: number;
  readonly seed: number;
}

const namespace = 'default';
const nodeName = 'node-in-memory';
const longestEndMs = 20_000;
const longestStartMs = 10_000;

/** A node agent over a container runtime in memory, and the owners of its pods. */
export class AgentRun {
  readonly #options: AgentRunOptions;
  readonly #folder: string;
  readonly #runtime: FakeRuntime;
  readonly #agent: NodeAgent;
  readonly #workload: PodOwners;
  readonly #told = new ToldLives();
  readonly #endWatch: () => void;
  #stage: AgentSnapshot['stage'] = 'running';
  #startedAt = performance.now();

  private constructor(options: AgentRunOptions, folder: string) {
    const { server, admin, pods, seconds, seed } = options;
    this.#options = options;
    this.#folder = folder;
    this.#runtime = new FakeRuntime({ ...new PodLives(new Random(seed, 1)), podCIDR: '10.244.0.0/16' });
    this.#agent = new NodeAgent({
      kubeConfig: server.kubeConfig(),
      nodeName,
      nodeIPs: ['192.0.2.10'],
      // an address of documents is on no machine
      network: {
        addresses: () => [{ name: 'eth0', address: '192.0.2.10', loopback: false }],
        defaultRoutes: () => [],
        lookup: async () => [],
      },
      runtime: this.#runtime,
      rootDirectory: join(folder, 'kubelet'),
      podLogsDirectory: join(folder, 'logs'),
      resolvConf: '',
      // nothing of this machine is touched beside that folder
      mounter: new FakeMounter(),
      cgroupsPerQOS: false,
      // nor does it matter what the machine has left
      evictionHard: {},
      imageGCHighThresholdPercent: 100,
      maxPods: 5000,
      registryPullQPS: 0,
      serializeImagePulls: false,
      // its lines would break the picture on the screen
      logger: null,
    });
    this.#endWatch = server.store.watch((event) => this.#told.note(event));
    this.#workload = new PodOwners({
      ...{ admin, namespace, pods, seconds, seed },
      makePod: (suffix, random) => {
        const shape = pickShape(random);
        return podOf(`${shape}-${suffix}`, shape, nodeName, random);
      },
    });
  }

  static async open(options: AgentRunOptions): Promise<AgentRun> {
    return new AgentRun(options, await mkdtemp(join(tmpdir(), 'node-in-memory-')));
  }

  /** Resolves when the signal has aborted or the time is over, and no owner does anything any more. */
  async play(signal: AbortSignal): Promise<void> {
    await this.#agent.start({ timeoutMs: longestStartMs, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    this.#startedAt = performance.now();
    const over = AbortSignal.any([signal, AbortSignal.timeout(this.#options.seconds * 1000)]);
    await this.#workload.run(over);
  }

  /** Waits until the server says what runs, and no pod is being deleted. Returns what is wrong in the end, one sentence each. */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    this.#stage = 'ending';
    const deadline = performance.now() + longestEndMs;
    let wrong = this.#wrong();
    while (wrong.length > 0 && performance.now() < deadline && (await pause(50, signal))) wrong = this.#wrong();
    return [...wrong, ...this.#workload.failures];
  }

  /** Deletes every pod that is left, and waits until nothing of any pod is left. Returns what is left, one sentence each. */
  async end(signal: AbortSignal): Promise<readonly string[]> {
    const { admin } = this.#options;
    for (const { metadata } of this.#pods()) {
      const { name = '', uid = '', deletionTimestamp } = metadata ?? {};
      if (deletionTimestamp === undefined) await admin.deletePod(namespace, name, uid);
    }
    const deadline = performance.now() + longestEndMs;
    let left = await this.#left();
    while (left.length > 0 && performance.now() < deadline && (await pause(50, signal))) left = await this.#left();
    this.#stage = 'done';
    return left;
  }

  /** What became of some of the pods, one line each. */
  lives(): readonly string[] {
    return this.#told.examples();
  }

  /** Stops everything; no timer, no socket and no file is left. */
  async close(): Promise<void> {
    this.#endWatch();
    await this.#agent.stop();
    await this.#runtime.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  snapshot(): AgentSnapshot {
    const { seconds, seed } = this.#options;
    const { history } = this.#runtime;
    const count = (type: string, what: string) => history.filter((each) => each.type === type && each.what === what).length;
    const { created, deleted } = this.#workload;
    const pods = this.#pods();
    return {
      nodeName,
      seed,
      stage: this.#stage,
      elapsedMs: performance.now() - this.#startedAt,
      totalMs: seconds * 1000,
      pods,
      created,
      deleted,
      started: count('started', 'container'),
      ended: count('stopped', 'container'),
      pulls: this.#runtime.calls.filter(({ call }) => call === 'PullImage').length,
      // a pod is on the server before its owner hears of it
      gone: Math.max(0, created - pods.length),
    };
  }

  #pods(): readonly WirePod[] {
    return this.#options.server.store.list({ namespace });
  }

  #wrong(): string[] {
    const pods = this.#pods();
    const going = pods.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined);
    return [
      ...going.map(({ metadata }) => `${metadata?.name} is still being deleted`),
      ...disagreements(pods, this.#runtime.history),
    ];
  }

  async #left(): Promise<string[]> {
    // the records of what has ended are removed once a minute
    const sandboxes = await this.#runtime.listPodSandboxes({ ready: true });
    return [
      ...this.#pods().map(({ metadata }) => `${metadata?.name} is left on the server`),
      ...sandboxes.map(({ metadata }) => `the sandbox of ${metadata.name} is not ended`),
    ];
  }
}
