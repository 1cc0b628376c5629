import type { SteadyClock } from '../../base/clock.ts';
import { callWithin, type WaitLimits } from '../../base/concurrency/aborts.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ContainerRuntime, isRuntimeError, type RuntimeCall, RuntimeError } from '../runtime/container-runtime.ts';
import type { ContainerDetails, ContainerRecord } from '../runtime/runtime-containers.ts';
import type { PodSandboxDetails, PodSandboxRecord } from '../runtime/runtime-sandboxes.ts';
import { labelFields } from '../runtime/runtime-sandboxes.ts';
import { type AgentPodStatus, agentPodStatus, emptyStatus, type ReadContainer, validIPs } from './agent-status.ts';
import { type ListedPod, listPods } from './listed-pods.ts';

export interface PodReaderOptions {
  readonly clock: Pick<SteadyClock, 'elapsed'>;
  readonly runtime: ContainerRuntime;
  readonly terminationMessageOf: (details: ContainerDetails) => Promise<string>;
  readonly logger: Logger;
}

export interface PodReading {
  readonly status: AgentPodStatus;
  /** The list that the status was made from; undefined when the runtime has nothing of the pod. */
  readonly listed: ListedPod | undefined;
  /** Containers that have ended, by id: what they say cannot change any more. */
  readonly ended: ReadonlyMap<string, ReadContainer>;
  /** Sandboxes, by id. */
  readonly sandboxes: ReadonlyMap<string, ReadSandbox>;
}

/** A sandbox as the runtime told of it when it was last asked. */
interface ReadSandbox {
  readonly details: PodSandboxDetails;
  /** When that was, by the clock's elapsed time. */
  readonly askedAt: number;
}

/** What a ready sandbox says of itself is believed for so long, although the runtime lists it as it was. */
const readyDetailsMs = 30_000;

/** Asks the runtime all that it knows of a pod. */
export class PodReader {
  readonly #options: PodReaderOptions;
  #runtimeName: string | undefined;

  constructor(options: PodReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads the pod that was listed; without a list, lists it first. `former` is the reading before: containers that had ended are
   * not asked for again, and neither are sandboxes whose state is as it was, ready ones for half a minute. Rejects as the runtime
   * does; what is gone between the list and the question counts as not listed.
   */
  async read(
    podUID: string,
    listed: ListedPod | undefined,
    former: PodReading | undefined,
    call: RuntimeCall,
  ): Promise<PodReading> {
    const pod = listed ?? (await listPods(this.#options.runtime, podUID, call)).get(podUID);
    if (pod === undefined) return nothingOf(podUID);
    const [runtimeName, sandboxes, containers] = await Promise.all([
      this.#name(call),
      Promise.all(pod.sandboxes.map((sandbox) => this.#sandbox(sandbox, former, call))),
      Promise.all(pod.containers.map((container) => this.#container(container, former, call))),
    ]);
    const read = new Map(sandboxes.filter((sandbox) => sandbox !== undefined).map((sandbox) => [sandbox.details.id, sandbox]));
    const found = {
      sandboxes: Array.from(read.values(), ({ details }) => details),
      containers: containers.filter((container) => container !== undefined),
    };
    if (found.sandboxes.length + found.containers.length === 0) return nothingOf(podUID);
    const formerIPs = former?.status.ips ?? [];
    const ended = found.containers.filter(({ details }) => details.state === 'exited');
    return {
      status: agentPodStatus({ pod, ...found, runtimeName, formerIPs }),
      listed: pod,
      ended: new Map(ended.map((container) => [container.details.id, container])),
      sandboxes: read,
    };
  }

  async #name(call: RuntimeCall): Promise<string> {
    this.#runtimeName ??= (await this.#options.runtime.version(call)).runtimeName;
    return this.#runtimeName;
  }

  async #sandbox(listed: PodSandboxRecord, former: PodReading | undefined, call: RuntimeCall): Promise<ReadSandbox | undefined> {
    const { clock, runtime } = this.#options;
    const askedAt = clock.elapsed();
    const known = former?.sandboxes.get(listed.id);
    if (known !== undefined && isSettled(known, listed, askedAt)) return known;
    const details = await unlessNotFound(runtime.podSandboxStatus(listed.id, call));
    return details && { details, askedAt };
  }

  async #container(
    { id }: ContainerRecord,
    former: PodReading | undefined,
    call: RuntimeCall,
  ): Promise<ReadContainer | undefined> {
    const known = former?.ended.get(id);
    if (known !== undefined) return known;
    const details = await unlessNotFound(this.#options.runtime.containerStatus(id, call));
    if (details === undefined) return undefined;
    return { details, terminationMessage: details.state === 'exited' ? await this.#lastWords(details) : '' };
  }

  /** A message that cannot be read hides no exit code. */
  async #lastWords(details: ContainerDetails): Promise<string> {
    const { terminationMessageOf, logger } = this.#options;
    try {
      const message: unknown = await terminationMessageOf(details);
      return typeof message === 'string' ? message : '';
    } catch (err) {
      logger.warn(
        { err, ...labelFields(details.labels), containerID: details.id },
        'the termination message of a container could not be read',
      );
      return '';
    }
  }
}

/** True for a sandbox that need not be asked for again. */
function isSettled({ details, askedAt }: ReadSandbox, { state }: PodSandboxRecord, now: number): boolean {
  if (details.state !== state) return false;
  return state !== 'ready' || (now - askedAt < readyDetailsMs && hasAddresses(details));
}

function hasAddresses({ ips, namespaces }: PodSandboxDetails): boolean {
  return namespaces?.network === 'node' || validIPs(ips).length > 0;
}

function nothingOf(podUID: string): PodReading {
  return { status: emptyStatus(podUID), listed: undefined, ended: new Map(), sandboxes: new Map() };
}

async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isRuntimeError(error, 'not-found')) return undefined;
    throw error;
  }
}

/** When a read of the runtime began. What it brought was true then, or became true later. */
export interface ReadTime {
  /** Grows with each read. */
  readonly order: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The same by the clock's elapsed time. */
  readonly elapsed: number;
  /** Grows each time the clock was set back. */
  readonly era: number;
}

/** Says when reads begin, and which of them are newer than a time. A clock that is set back makes no old read look new. */
export class ReadTimes {
  readonly #clock: SteadyClock;
  #order = 0;
  #era = 0;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  begin(): ReadTime {
    const at = this.#now();
    this.#order += 1;
    return { order: this.#order, at, elapsed: this.#clock.elapsed(), era: this.#era };
  }

  /** True when the read began after `time`, in milliseconds since the epoch, by the clock as it goes now. */
  isAfter(read: ReadTime, time: number): boolean {
    const now = this.#now();
    // nobody may have seen that the clock was set back
    return read.era === this.#era && Math.min(read.at, now - this.age(read)) > time;
  }

  /** How long ago the read began, in milliseconds, whatever the wall clock has done since. */
  age(read: ReadTime): number {
    return this.#clock.elapsed() - read.elapsed;
  }

  #now(): number {
    const now = this.#clock.now();
    if (now < this.#last) this.#era += 1;
    this.#last = now;
    return now;
  }
}

interface UnderWay<T> {
  readonly began: ReadTime;
  readonly answer: Promise<T>;
}

/** One read at a time. Whoever asks shares the read under way if that one is new enough, else the one after it. */
export class SharedRead<T> {
  readonly #times: ReadTimes;
  readonly #read: (began: ReadTime) => Promise<T>;
  #underWay: UnderWay<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(times: ReadTimes, read: (began: ReadTime) => Promise<T>) {
    this.#times = times;
    this.#read = read;
  }

  /** True while nobody waits and nothing is read. */
  get isIdle(): boolean {
    return this.#underWay === undefined && this.#next === undefined;
  }

  /** What a read answers that begins now or later, or that is under way and new enough. */
  ask(isNewEnough: (began: ReadTime) => boolean = () => false): Promise<T> {
    const { answer, began } = this.#underWay ?? {};
    if (answer === undefined || began === undefined) return this.#next ?? this.begin(this.#times.begin(), this.#read);
    if (isNewEnough(began)) return answer;
    const askAgain = (): Promise<T> => {
      this.#next = undefined;
      return this.begin(this.#times.begin(), this.#read);
    };
    this.#next ??= answer.then(askAgain, askAgain);
    return this.#next;
  }

  /** Begins a read of one's own; only while {@link isIdle}. */
  begin(began: ReadTime, read: (began: ReadTime) => Promise<T>): Promise<T> {
    const answer = read(began).finally(() => {
      this.#underWay = undefined;
    });
    this.#underWay = { began, answer };
    return answer;
  }
}

/** Reads no longer than the limits allow, whatever the runtime does. The read gets a signal that aborts when nobody waits any more. */
export function boundedRead<T>(what: string, read: (signal: AbortSignal) => Promise<T>, limits: WaitLimits): Promise<T> {
  const late = (): RuntimeError => new RuntimeError('timeout', what, `the runtime gave no answer within ${limits.timeoutMs} ms`);
  return callWithin(read, { ...limits, late });
}
