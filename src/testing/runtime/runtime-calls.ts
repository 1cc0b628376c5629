import type { CancelTimer, Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { RuntimeError, type RuntimeErrorKind } from '../../kubelet/runtime/container-runtime.ts';
import { FaultRules } from '../fault-rules.ts';

/** A call that a {@link FakeRuntime} got. */
export interface RuntimeCallRecord {
  /** The call, by its name in CRI. */
  readonly call: RuntimeCallName;
  /** The id of the sandbox or the container, the image, or the names that it is about; else empty. */
  readonly about: string;
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
}

/** Lets calls through, delays them and fails them. */
export class RuntimeCalls {
  readonly rules = new FaultRules<RuntimeFaultRule>();
  log: RuntimeCallRecord[] = [];
  readonly #clock: Clock;
  /** What fails each call under way. */
  readonly #underWay = new Set<() => void>();
  readonly #timers = new Set<CancelTimer>();
  #downBecause: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isDown(): boolean {
    return this.#downBecause !== undefined;
  }

  /** From now on every call fails, and so do those under way. What they had begun comes to nothing. */
  goDown(because: string): void {
    this.#downBecause = because;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    for (const fail of this.#underWay) fail();
    this.#underWay.clear();
  }

  comeUp(): void {
    this.#downBecause = undefined;
  }

  unavailable(call: string): RuntimeError {
    return new RuntimeError('unavailable', call, this.#downBecause ?? 'the runtime is not there');
  }

  async run<T>(call: RuntimeCallName, about: string, signal: AbortSignal | undefined, act: () => T | Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    this.log.push({ call, about, at: this.#clock.now() });
    if (this.isDown) throw this.unavailable(call);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fail = (): void => reject(this.unavailable(call));
    this.#underWay.add(fail);
    const [rule] = this.rules.take((each) => fitsCall(each, call, about));
    this.#act(call, rule?.fault, act).then(resolve, reject);
    try {
      return await untilAborted(promise, signal);
    } finally {
      this.#underWay.delete(fail);
    }
  }

  /** Resolves after `ms`; never, when the runtime goes down before. */
  wait(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#timers.delete(cancel);
        resolve();
      };
      const cancel = this.#clock.setTimer(done, ms, { keepAlive: true });
      this.#timers.add(cancel);
    });
  }

  async #act<T>(call: RuntimeCallName, fault: RuntimeFault | undefined, act: () => T | Promise<T>): Promise<T> {
    switch (fault?.kind) {
      case undefined:
        return act();
      case 'error':
        throw errorOf(call, fault);
      case 'error-after':
        await act();
        throw errorOf(call, fault);
      case 'hang':
        return never();
      case 'hang-after':
        await act();
        return never();
      case 'latency':
        await this.wait(fault.ms);
        return act();
      case 'late-answer': {
        const answer = await act();
        await this.wait(fault.ms);
        return answer;
      }
    }
  }
}

function errorOf(
  call: RuntimeCallName,
  { error, message = `${call} was made to fail` }: RuntimeFault & { kind: 'error' | 'error-after' },
) {
  return new RuntimeError(error, call, message);
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** A call of the port, by its name in CRI. */
export type RuntimeCallName =
  | 'Version'
  | 'Status'
  | 'RuntimeConfig'
  | 'UpdateRuntimeConfig'
  | 'RunPodSandbox'
  | 'StopPodSandbox'
  | 'RemovePodSandbox'
  | 'PodSandboxStatus'
  | 'ListPodSandbox'
  | 'CreateContainer'
  | 'StartContainer'
  | 'StopContainer'
  | 'RemoveContainer'
  | 'ContainerStatus'
  | 'ListContainers'
  | 'UpdateContainerResources'
  | 'ReopenContainerLog'
  | 'ListContainerStats'
  | 'ListPodSandboxStats'
  | 'ExecSync'
  | 'Exec'
  | 'Attach'
  | 'PortForward'
  | 'PullImage'
  | 'ImageStatus'
  | 'ListImages'
  | 'RemoveImage'
  | 'ImageFsInfo';

/** What goes wrong with a call. */
export type RuntimeFault =
  /** The call fails and does nothing. `error` is the kind of the error, `message` its text. */
  | { readonly kind: 'error'; readonly error: RuntimeErrorKind; readonly message?: string }
  /** The call takes effect, and its answer is lost: it fails with that error. */
  | { readonly kind: 'error-after'; readonly error: RuntimeErrorKind; readonly message?: string }
  /** The call does nothing and never answers, unless it is aborted. */
  | { readonly kind: 'hang' }
  /** The call takes effect and never answers, unless it is aborted. */
  | { readonly kind: 'hang-after' }
  /** The call waits that many milliseconds before it takes effect. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The call takes effect at once and answers that many milliseconds later with what was true then. */
  | { readonly kind: 'late-answer'; readonly ms: number };

/** Which calls go wrong, and how. A member that is left out fits every call. */
export interface RuntimeFaultRule {
  /** What goes wrong. */
  readonly fault: RuntimeFault;
  /** Default: every call. */
  readonly call?: RuntimeCallName;
  /** The id of the sandbox or the container, or the image, that the call is about. Default: any. */
  readonly about?: string;
  /** How many calls the rule hits. Default 1; with a `probability`, without limit. */
  readonly times?: number;
  /** The share of fitting calls that the rule hits, 0 to 1. Default 1. */
  readonly probability?: number;
  /** The source of random numbers. Default `Math.random`. */
  readonly random?: () => number;
}

/** A rule of a {@link FakeRuntime}, as `fail` and `loseEvents` return it. */
export interface RuntimeFaultHandle {
  /** How many more calls or events the rule hits. */
  readonly remaining: number;
  /** Takes the rule back. A second call does nothing. */
  remove(): void;
}

/** True for a rule of the call and of what it is about. */
export function fitsCall(rule: Omit<RuntimeFaultRule, 'fault'>, call: string, about: string): boolean {
  return (rule.call ?? call) === call && (rule.about ?? about) === about;
}
