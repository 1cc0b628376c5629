import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { WirePod } from '../../../../src/index.ts';
import type { ContainerRuntime } from '../../../../src/kubelet/runtime/container-runtime.ts';
import { NodeAgent, type NodeAgentOptions } from '../../../../src/kubelet.ts';
import type { ServedStore } from '../../../../src/testing/objects/resource-store.ts';
import { FakeMounter, FakeRuntime, type FakeRuntimeOptions } from '../../../../src/testing.ts';
import { networkOf } from '../../../support/network-of.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import { settleWithFiles } from '../../../support/settle-with-files.ts';
import { Prng } from '../../chaos/prng.ts';
import { agentTransport } from '../node/agent/agent-transport.ts';
import { Lifeline } from '../node/agent/lifeline.ts';
import { fairApiWeather } from '../parts/api-weather.ts';
import { SimulatedObjects } from '../parts/simulated-objects.ts';
import { SimulatedTransport } from '../parts/simulated-transport.ts';
import { ProcessClock, SimulatedClock } from '../simulated-clock.ts';
import { epochMs } from '../simulated-server.ts';
import { mortalRuntime } from './mortal-runtime.ts';
import { RunLedger } from './run-ledger.ts';

type Spec = Partial<NonNullable<WirePod['spec']>>;

export interface CalmNodeOptions {
  readonly runtime?: FakeRuntimeOptions;
  /** Of every agent of the node. */
  readonly agent?: (folder: string) => Partial<NodeAgentOptions>;
}

/** A node in virtual time on which nothing goes wrong but what a test does: server, runtime, and agents one after the other. */
export class CalmNode {
  readonly name = 'node-1';
  readonly folder: string;
  readonly clock = new SimulatedClock(settleWithFiles);
  readonly runtime: FakeRuntime;
  readonly ledger: RunLedger;
  /** What was found wrong: something ran twice, or was called after a stop. */
  readonly wrong: string[] = [];
  readonly #objects: SimulatedObjects;
  readonly #options: CalmNodeOptions;
  readonly #mounter = new FakeMounter();
  #running: { agent: NodeAgent; lifeline: Lifeline; clock: ProcessClock; transport: SimulatedTransport } | undefined;
  readonly #random = new Prng(1);
  #gone = new AbortController();

  private constructor(folder: string, options: CalmNodeOptions) {
    this.folder = folder;
    this.#options = options;
    this.#objects = new SimulatedObjects(this.clock, new Prng(1), fairApiWeather);
    this.runtime = new FakeRuntime({ ...options.runtime, clock: new ProcessClock(this.clock, epochMs) });
    this.ledger = new RunLedger(this.runtime, (rule, detail) => this.wrong.push(`${rule}: ${detail}`));
  }

  /** It ends with its test, and its folder goes. */
  static async open(options: CalmNodeOptions = {}): Promise<CalmNode> {
    const node = new CalmNode(await mkdtemp(join(tmpdir(), 'calm-node-')), options);
    onTestFinished(() => node.#close());
    return node;
  }

  get agent(): NodeAgent {
    if (this.#running === undefined) throw new Error('no agent runs');
    return this.#running.agent;
  }

  get pods(): ServedStore {
    return this.#objects.target('/api/v1/pods').store;
  }

  /** Each event on the server, as `Warning Failed`, with its message. */
  events(podName: string): string[] {
    const all = this.#objects.target('/api/v1/events').store.list() as readonly Record<string, unknown>[];
    const ofPod = all.filter(({ involvedObject }) => (involvedObject as { name?: string } | undefined)?.name === podName);
    return ofPod.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** An agent begins. `between` stands between it and the runtime. */
  begin(between: (runtime: FakeRuntime) => ContainerRuntime = (runtime) => runtime): void {
    const lifeline = new Lifeline((rule, detail) => this.wrong.push(`${rule}: ${detail}`));
    const clock = new ProcessClock(this.clock, epochMs);
    const parts = { clock: this.clock, objects: this.#objects, weather: fairApiWeather, prng: new Prng(1), count: () => {} };
    const transport = new SimulatedTransport(parts);
    this.#gone = new AbortController();
    const agent = new NodeAgent({
      transport: agentTransport(transport, lifeline),
      nodeName: this.name,
      nodeIPs: ['192.0.2.1'],
      network: networkOf('192.0.2.1'),
      runtime: mortalRuntime(between(this.runtime) as FakeRuntime, lifeline, this.#gone.signal),
      rootDirectory: join(this.folder, 'kubelet'),
      podLogsDirectory: join(this.folder, 'logs'),
      resolvConf: '',
      mounter: this.#mounter,
      cgroupsPerQOS: false,
      machine: quietMachine(),
      evictionHard: {},
      imageGCHighThresholdPercent: 100,
      clock,
      random: () => this.#random.next(),
      logger: null,
      ...this.#options.agent?.(this.folder),
    });
    this.#running = { agent, lifeline, clock, transport };
    agent.start().catch((error: unknown) => {
      if (lifeline.isAlive) this.wrong.push(`the start failed: ${error}`);
    });
  }

  /** The agent is gone in the middle of whatever it did; what runs goes on. */
  crash(): void {
    const ended = this.#running;
    this.#running = undefined;
    ended?.lifeline.kill();
    ended?.clock.kill();
    this.#gone.abort();
    ended?.transport.resetAll();
  }

  /** The agent stops in good order, and its pods run on. */
  async stop(): Promise<void> {
    const ended = this.#running;
    if (ended === undefined) return;
    this.#running = undefined;
    let isOver = false;
    const stopped = ended.agent.stop().finally(() => {
      isOver = true;
    });
    await this.clock.runUntil(this.clock.elapsedMs + 60_000, () => isOver);
    await stopped;
    ended.lifeline.stopped();
  }

  /** Lets time go by. */
  async advance(ms: number): Promise<void> {
    await this.clock.runUntil(this.clock.elapsedMs + ms, () => false);
    this.ledger.catchUp();
  }

  /** Lets time go by until that is so; throws when it is not so after two minutes, or the time that is given. */
  async until(isSo: () => boolean, withinMs = 120_000): Promise<void> {
    await this.clock.runUntil(this.clock.elapsedMs + withinMs, isSo);
    this.ledger.catchUp();
    if (!isSo()) throw new Error(`not so after ${withinMs} ms: ${isSo}`);
  }

  create(name: string, spec: Spec, metadata: WirePod['metadata'] = {}): WirePod {
    const { containers = [{ name: 'app', image: 'app:1' }], ...others } = spec;
    const pod = { metadata: { name, namespace: 'default', ...metadata } };
    const base = { nodeName: this.name, automountServiceAccountToken: false, terminationGracePeriodSeconds: 5, containers };
    return this.pods.create({ ...pod, spec: { ...base, ...others } }) as WirePod;
  }

  pod(name: string, namespace = 'default'): WirePod | undefined {
    return (this.pods.list() as WirePod[]).find(({ metadata }) => metadata?.name === name && metadata.namespace === namespace);
  }

  delete(name: string, namespace = 'default'): void {
    this.pods.delete({ namespace, name }, {});
  }

  isRunning(name: string): boolean {
    const { phase, containerStatuses = [] } = this.pod(name)?.status ?? {};
    return phase === 'Running' && containerStatuses.every(({ state }) => state?.running !== undefined);
  }

  /** Containers and ready sandboxes in the runtime, and folders of pods. */
  async left(): Promise<string[]> {
    const folders = await readdir(join(this.folder, 'kubelet', 'pods')).catch(() => []);
    const listed = this.ledger.all().filter(({ isListed }) => isListed);
    return [...listed.map(({ name }) => name), ...this.ledger.podsWithSandbox(), ...folders];
  }

  async #close(): Promise<void> {
    this.crash();
    await this.runtime.close();
    await settleWithFiles();
    await rm(this.folder, { recursive: true, force: true });
  }
}
