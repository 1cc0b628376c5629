import type { Logger, WirePod } from '../../../../src/index.ts';
import type { Prng } from '../../chaos/prng.ts';
import { ApiFaults, fairApiWeather } from '../parts/api-weather.ts';
import { SimulatedTransport } from '../parts/simulated-transport.ts';
import { WitnessedObjects } from '../parts/witnessed-objects.ts';
import { ProcessClock, type SimulatedClock } from '../simulated-clock.ts';
import { epochMs } from '../simulated-server.ts';
import { Lifeline } from './agent/lifeline.ts';
import { type NodeBreakage, NodeProcess } from './agent/node-process.ts';
import { RuntimePort } from './agent/runtime-port.ts';
import { StaticSource } from './agent/static-source.ts';
import { whatIsOutOfStep } from './judge/in-step.ts';
import { RunJudge } from './judge/run-judge.ts';
import { ServerJudge } from './judge/server-judge.ts';
import type { NodeFound } from './rules.ts';
import { drawLife } from './runtime/lives.ts';
import { RuntimeFaults } from './runtime/runtime-weather.ts';
import { SimulatedRuntime } from './runtime/simulated-runtime.ts';
import { characterOf } from './users/pod-shapes.ts';
import { Users } from './users/users.ts';

export interface NodeWorldParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly found: NodeFound;
  readonly count: (what: string) => void;
  readonly countFault: (fault: string) => void;
  readonly breakage: NodeBreakage | undefined;
  readonly onLog: ((line: string) => void) | undefined;
}

const nodeName = 'node-1';
const lookEveryMs = 1000;
/** What the parts of an agent have, without its pods. */
const ownTimers = 10;
const relistEveryMs = 10_000;

/** The agent that runs now, with what ends with it. */
interface Agent {
  readonly process: NodeProcess;
  readonly lifeline: Lifeline;
  readonly clock: ProcessClock;
  readonly transport: SimulatedTransport;
  readonly statics: StaticSource;
}

/** A machine with its runtime, the agents that run on it one after the other, a server, users, faults, and the judges. */
export class NodeWorld {
  readonly #parts: NodeWorldParts;
  readonly #weather = { ...fairApiWeather };
  readonly #objects: WitnessedObjects;
  readonly #runtime: SimulatedRuntime;
  readonly #users: Users;
  readonly #runJudge: RunJudge;
  readonly #runtimeFaults: RuntimeFaults;
  readonly #apiFaults: ApiFaults;
  readonly #lives: Prng;
  readonly #cachesLag: boolean;
  #agent: Agent | undefined;
  #agents = 0;
  #wallOffsetMs = epochMs;
  #isCalm = false;
  #isLooking = true;

  constructor(parts: NodeWorldParts) {
    const { clock, prng, found, count, countFault, onLog } = parts;
    this.#parts = parts;
    this.#lives = prng.fork('lives');
    this.#cachesLag = prng.fork('shape').chance(0.5);
    this.#objects = new WitnessedObjects(clock, prng.fork('server'), this.#weather);
    const note = (line: string): void => onLog?.(`${(clock.elapsedMs / 1000).toFixed(3)} ${line}`);
    this.#runJudge = new RunJudge({ now: () => clock.elapsedMs, found, note, runtime: () => this.#runtime });
    this.#runtime = new SimulatedRuntime({ clock, now: () => clock.elapsedMs + this.#wallOffsetMs, witness: this.#runJudge });
    this.#runtime.onChange((podUID) => this.#runJudge.podChanged(podUID));
    const pods = this.#objects.target('/api/v1/pods').store;
    const serverJudge = new ServerJudge({ found, runtime: this.#runtime, runs: this.#runJudge, count });
    pods.watch((event) => serverJudge.stored(event, this.#objects.isAgentWriting));
    this.#users = new Users({
      pods,
      nodeName,
      prng: prng.fork('users'),
      count,
      manifestsChanged: () => this.#manifestsChanged(),
      evict: (podUID, seconds) => this.#evict(podUID, seconds),
    });
    this.#runtimeFaults = new RuntimeFaults(clock, prng.fork('runtime weather'), countFault);
    this.#apiFaults = new ApiFaults({
      clock,
      weather: this.#weather,
      count: countFault,
      cachesLag: this.#cachesLag,
      prng: prng.fork('faults'),
      compact: () => this.#objects.compact(),
      resetAll: () => this.#agent?.transport.resetAll(),
      jumpClock: (ms) => this.#jumpClock(ms),
    });
    this.#look();
  }

  /** An agent begins; there must be none. */
  begin(): void {
    const { clock, prng, count, countFault, found, breakage } = this.#parts;
    const random = prng.fork(`agent ${++this.#agents}`);
    const lifeline = new Lifeline(found);
    const agentClock = new ProcessClock(clock, this.#wallOffsetMs);
    const network = { clock, objects: this.#objects, weather: this.#weather, prng: random.fork('network'), count: countFault };
    const transport = new SimulatedTransport(network);
    const statics = new StaticSource(() => this.#users.statics);
    const port = new RuntimePort({
      clock,
      runtime: this.#runtime,
      weather: this.#runtimeFaults.weather,
      prng: random.fork('runtime'),
      lifeline,
      count: countFault,
      faultUntil: (podUID, untilMs) => this.#runJudge.faultUntil(podUID, untilMs),
    });
    const process = new NodeProcess({
      nodeName,
      transport,
      lifeline,
      clock: agentClock,
      prng: random,
      port,
      statics,
      streamLists: random.chance(0.5),
      logger: this.#logger(lifeline),
      lifeOf: (_pod, { image = '' }) => drawLife(this.#lives, characterOf(image), this.#isCalm),
      prober: {
        clock,
        runtime: this.#runtime,
        isCalm: () => this.#isCalm,
        probed: (id, container) => this.#runJudge.probed(id, container),
        failed: (container) => this.#runJudge.livenessFailed(container),
      },
      told: (source, pods) => this.#runJudge.tell(source, pods),
      runtimeEvents: (tell) => this.#sendEvents(tell, lifeline, random.fork('events')),
      breakage,
    });
    this.#agent = { process, lifeline, clock: agentClock, transport, statics };
    count('agent started');
    this.#runJudge.agentBegan();
    process.start();
    const lookMs = random.weighted({ soon: 6, late: 2 }) === 'soon' ? random.between(0, 2000) : random.between(2000, 40_000);
    clock.schedule(() => statics.look(), lookMs);
  }

  /** The agent is gone in the middle of whatever it did; what runs goes on. */
  crash(): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    this.#parts.count('agent crashed');
    agent.lifeline.kill();
    agent.clock.kill();
    agent.transport.resetAll();
    this.#runJudge.agentEnded();
    this.#agent = undefined;
  }

  /** The agent stops in good order. Then nothing of it may be left. */
  async stop(): Promise<void> {
    const agent = this.#agent;
    if (agent === undefined) return;
    this.#parts.count('agent stopped');
    this.#agent = undefined;
    await agent.process.stop();
    this.#runJudge.agentEnded();
    const { transport, clock } = agent;
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
    this.#isCalm = true;
    this.#isLooking = true;
    this.#apiFaults.end();
    this.#runtimeFaults.end();
  }

  endLooks(): void {
    this.#isLooking = false;
  }

  outOfStep(): string[] {
    return whatIsOutOfStep({ server: this.#pods(), statics: this.#users.statics }, this.#runtime, this.#parts.clock.elapsedMs);
  }

  /** Nothing happens: no timer is left of what is over. */
  lookAtTimers(): void {
    const pods = [...this.#pods(), ...this.#users.statics];
    const containers = pods.flatMap(({ spec }) => spec?.containers ?? []);
    const probes = containers.flatMap(({ livenessProbe, readinessProbe }) =>
      [livenessProbe, readinessProbe].filter((probe) => probe),
    );
    const { pendingTimers = 0 } = this.#agent?.clock ?? {};
    if (pendingTimers > ownTimers + probes.length)
      this.#parts.found('no more timers than there is work', `${pendingTimers} timers, ${probes.length} probes`);
  }

  /** For people who look into a failure. */
  explain(podUID: string): string {
    return JSON.stringify(this.#agent?.process.explain(podUID));
  }

  #pods(): WirePod[] {
    return this.#objects.target('/api/v1/pods').store.list() as WirePod[];
  }

  #look(): void {
    this.#parts.clock.schedule(() => {
      if (!this.#isLooking) return;
      this.#runJudge.look();
      this.#look();
    }, lookEveryMs);
  }

  #manifestsChanged(): void {
    const { clock, prng } = this.#parts;
    const statics = this.#agent?.statics;
    clock.schedule(() => statics?.look(), prng.between(10, 3000));
  }

  #evict(podUID: string, gracePeriodSeconds: number): void {
    if (this.#agent?.process.evict(podUID, gracePeriodSeconds) !== undefined) this.#runJudge.evicted(podUID, gracePeriodSeconds);
  }

  #jumpClock(ms: number): void {
    // set back, it makes the newest container look older than the one before: so it does for the kubelet
    if (ms < 0) return;
    this.#wallOffsetMs += ms;
    this.#agent?.clock.jump(ms);
  }

  /** Events come late, and some are lost; a list now and then finds what they would have told. */
  #sendEvents(tell: (podUID: string) => void, lifeline: Lifeline, prng: Prng): void {
    const { clock } = this.#parts;
    const untold = new Set<string>();
    const end = this.#runtime.onChange((podUID) => {
      untold.add(podUID);
      if (prng.chance(this.#runtimeFaults.weather.eventsLost)) return;
      clock.schedule(
        () => {
          if (lifeline.isAlive && untold.delete(podUID)) tell(podUID);
        },
        prng.between(1, 200),
      );
    });
    const relist = (): void => {
      if (!lifeline.isAlive) {
        end();
        return;
      }
      for (const podUID of untold) tell(podUID);
      untold.clear();
      clock.schedule(relist, relistEveryMs);
    };
    clock.schedule(relist, relistEveryMs);
  }

  #logger(lifeline: Lifeline): Logger {
    const { count, onLog, clock } = this.#parts;
    const log = (level: string) => (fields: object, message: string) => {
      if (lifeline.isDead) return;
      if (level === 'error') count(`error: ${message}`);
      const { err } = fields as { err?: unknown };
      onLog?.(
        `${(clock.elapsedMs / 1000).toFixed(3)} ${level} ${message} ${JSON.stringify(fields)} ${err instanceof Error ? err.message : ''}`,
      );
    };
    const isLevelEnabled: Logger['isLevelEnabled'] = (level) => level !== 'debug' || onLog !== undefined;
    return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error'), isLevelEnabled };
  }
}
