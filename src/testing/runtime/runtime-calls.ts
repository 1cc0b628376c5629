import type { CancelTimer, Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { RuntimeError } from '../../kubelet/runtime/container-runtime.ts';
import { RuleList, type RuntimeCallName, type RuntimeFault, type RuntimeFaultRule } from './runtime-faults.ts';

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
  readonly rules = new RuleList<RuntimeFaultRule>();
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
    this.#act(call, this.rules.take(call, about)?.fault, act).then(resolve, reject);
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
