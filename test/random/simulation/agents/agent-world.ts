import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { podUIDOf } from '../../../../src/api/pod/pod-identity.ts';
import type { Logger, WirePod } from '../../../../src/index.ts';
import { NodeAgent } from '../../../../src/kubelet.ts';
import { FakeMounter, FakeRuntime } from '../../../../src/testing.ts';
import { networkOf } from '../../../support/network-of.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import type { Prng } from '../../chaos/prng.ts';
import { agentTransport } from '../node/agent/agent-transport.ts';
import { Lifeline } from '../node/agent/lifeline.ts';
import { ApiFaults, fairApiWeather } from '../parts/api-weather.ts';
import { SimulatedTransport } from '../parts/simulated-transport.ts';
import { WitnessedObjects } from '../parts/witnessed-objects.ts';
import { ProcessClock, type SimulatedClock } from '../simulated-clock.ts';
import { epochMs } from '../simulated-server.ts';
import { AgentJudge, outOfStep } from './agent-judge.ts';
import { AgentUsers, drawImage, drawLife } from './agent-users.ts';
import { mortalRuntime } from './mortal-runtime.ts';
import type { AgentFound } from './rules.ts';
import { RunLedger } from './run-ledger.ts';
import { RuntimeTroubles } from './runtime-troubles.ts';

export interface AgentWorldParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly found: AgentFound;
  readonly count: (what: string) => void;
  readonly countFault: (fault: string) => void;
  /** Where the agents keep their files; empty at the beginning. */
  readonly folder: string;
  /** Something stands between the agent and its runtime. */
  readonly breakage: ((runtime: FakeRuntime) => FakeRuntime) | undefined;
  readonly onLog: ((line: string) => void) | undefined;
}

const nodeName = 'node-1';

interface Agent {
  readonly agent: NodeAgent;
  readonly lifeline: Lifeline;
  readonly clock: ProcessClock;
  readonly transport: SimulatedTransport;
  readonly gone: AbortController;
}

/** A machine with its container runtime, the agents that run on it one after the other, a server, users, faults, and the judges. */
export class AgentWorld {
  readonly #parts: AgentWorldParts;
  readonly #weather = { ...fairApiWeather };
  readonly #objects: WitnessedObjects;
  readonly #runtime: FakeRuntime;
  readonly #users: AgentUsers;
  readonly #ledger: RunLedger;
  readonly #troubles: RuntimeTroubles;
  readonly #apiFaults: ApiFaults;
  readonly #mounter = new FakeMounter();
  #agent: Agent | undefined;
  #agents = 0;

  constructor(parts: AgentWorldParts) {
    const { clock, prng, found, count, countFault } = parts;
    this.#parts = parts;
    this.#objects = new WitnessedObjects(clock, prng.fork('server'), this.#weather);
    const lives = prng.fork('lives');
    const options = { podCIDR: '10.244.0.0/16', clock: new ProcessClock(clock, epochMs) };
    this.#runtime = new FakeRuntime({
      ...options,
      lives: (request) => drawLife(lives, request),
      registry: (image) => drawImage(lives, image),
    });
    this.#ledger = new RunLedger(this.#runtime, found);
    const judge = new AgentJudge(this.#ledger, found, count);
    const pods = this.#objects.target('/api/v1/pods').store;
    pods.watch((event) => judge.stored(event, this.#objects.isAgentWriting));
    const secrets = this.#objects.target('/api/v1/secrets').store;
    this.#users = new AgentUsers({ pods, secrets, nodeName, prng: prng.fork('users'), count });
    this.#troubles = new RuntimeTroubles(clock, prng.fork('runtime troubles'), this.#runtime, countFault);
    this.#apiFaults = new ApiFaults({
      clock,
      weather: this.#weather,
      count: countFault,
      cachesLag: prng.fork('shape').chance(0.5),
      prng: prng.fork('faults'),
      compact: () => this.#objects.compact(),
      resetAll: () => this.#agent?.transport.resetAll(),
      jumpClock: (ms) => this.#agent?.clock.jump(ms),
    });
  }

  /** An agent begins; there must be none. */
  begin(): void {
    const { clock, prng, found, count, countFault, folder, breakage } = this.#parts;
    const random = prng.fork(`agent ${++this.#agents}`);
    const lifeline = new Lifeline((_, detail) => found('nothing is called after stop', detail));
    const agentClock = new ProcessClock(clock, epochMs);
    const network = { clock, objects: this.#objects, weather: this.#weather, prng: random.fork('network'), count: countFault };
    const transport = new SimulatedTransport(network);
    const gone = new AbortController();
    const runtime = breakage?.(this.#runtime) ?? this.#runtime;
    const agent = new NodeAgent({
      transport: agentTransport(transport, lifeline),
      nodeName,
      nodeIPs: ['192.0.2.1'],
      network: networkOf('192.0.2.1'),
      runtime: mortalRuntime(runtime, lifeline, gone.signal),
      rootDirectory: join(folder, 'kubelet'),
      podLogsDirectory: join(folder, 'logs'),
      resolvConf: '',
      mounter: this.#mounter,
      cgroupsPerQOS: false,
      machine: quietMachine(),
      // what the real machine has left is nothing to a node in virtual time
      evictionHard: {},
      imageGCHighThresholdPercent: 100,
      clock: agentClock,
      random: () => random.next(),
      logger: this.#logger(lifeline),
    });
    this.#agent = { agent, lifeline, clock: agentClock, transport, gone };
    agent.statusManager.on('illegalTransition', ({ reason, pod }) => {
      // as the kubelet's: init containers run again in another sandbox, whatever the policy says
      if (!reason.startsWith('terminated init container')) found('no status is refused', `${pod.metadata?.name}: ${reason}`);
    });
    count('agent started');
    agent.start().catch((error: unknown) => {
      if (lifeline.isAlive && this.#agent?.agent === agent) found('nothing unforeseen happens', `the start failed: ${error}`);
    });
  }

  /** The agent is gone in the middle of whatever it did; what runs goes on. */
  crash(): void {
    const ended = this.#agent;
    if (ended === undefined) return;
    this.#parts.count('agent crashed');
    ended.lifeline.kill();
    ended.clock.kill();
    ended.gone.abort();
    ended.transport.resetAll();
    this.#agent = undefined;
  }

  /** The agent stops in good order. Then nothing of it may be left, and its pods run on. */
  async stop(): Promise<void> {
    const ended = this.#agent;
    if (ended === undefined) return;
    this.#parts.count('agent stopped');
    this.#agent = undefined;
    await ended.agent.stop();
    ended.lifeline.stopped();
    const { transport, clock } = ended;
    const left = [
      ...transport.openWatches.map(({ resource }) => `a watch of ${resource}`),
      ...(transport.underWay > 0 ? [`${transport.underWay} requests`] : []),
      ...(clock.pendingTimers > 0 ? [`${clock.pendingTimers} timers`] : []),
    ];
    for (const one of left) this.#parts.found('nothing is left after stop', one);
  }

  /** Users do something, or not. */
  act(): void {
    this.#users.act();
  }

  /** From now on nothing new goes wrong. */
  calmDown(): void {
    this.#apiFaults.end();
    this.#troubles.end();
  }

  outOfStep(): string[] {
    return outOfStep(this.#pods(), this.#ledger);
  }

  /** The containers of pods that are gone, which the runtime lists still. */
  leftOfPods(): string[] {
    this.#ledger.catchUp();
    const known = new Set(this.#pods().map(podUIDOf));
    const left = this.#ledger.all().filter(({ isListed, podUID }) => isListed && !known.has(podUID));
    return left.map((run) => JSON.stringify(run));
  }

  /** The folders of pods that are gone. */
  async foldersLeft(): Promise<string[]> {
    const known = new Set(this.#pods().map(podUIDOf));
    const names = await readdir(join(this.#parts.folder, 'kubelet', 'pods')).catch(() => []);
    return names.filter((name) => !known.has(name));
  }

  async end(): Promise<void> {
    await this.#runtime.close();
  }

  #pods(): WirePod[] {
    return this.#objects.target('/api/v1/pods').store.list() as WirePod[];
  }

  #logger(lifeline: Lifeline): Logger | null {
    const { onLog, clock } = this.#parts;
    if (onLog === undefined) return null;
    const log = (level: string) => (fields: object, message: string) => {
      if (lifeline.isDead) return;
      const { err, ...others } = fields as { err?: unknown };
      onLog(`${(clock.elapsedMs / 1000).toFixed(3)} ${level} ${message} ${JSON.stringify(others)} ${err ?? ''}`);
    };
    return { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') };
  }
}
