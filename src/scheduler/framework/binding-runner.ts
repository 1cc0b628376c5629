import { untilAborted } from '../../base/concurrency/aborts.ts';
import { callGuarded } from '../../base/guard.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import {
  type ExtensionPoint,
  type Plugin,
  type PluginAt,
  type PluginRejection,
  type ProfilePlugins,
  pluginsAt,
} from './plugin.ts';
import { asRejection, PluginError, pluginFailure, wrongAnswer } from './plugin-error.ts';

/** What permit of all plugins came to. */
export interface PermitOutcome {
  readonly rejection?: PluginRejection;
  /** The plugins that have yet to allow the pod, with the milliseconds that each of them waits at most. */
  readonly waits: ReadonlyMap<string, number>;
}

/** The pod that is to be made ready for its node. */
export interface PreBindWork {
  readonly state: CycleState;
  readonly podInfo: PodInfo;
  readonly nodeName: string;
}

/** Gets the error of a plugin that has no say any more, and the pod at which it failed. */
export type OnPluginFailure = (error: PluginError, pod: PodInfo) => void;

/** The longest that a plugin may let a pod wait. */
const longestWaitMs = 15 * 60_000;

/** Asks the plugins between the choice of a node and the bound pod. Behaviour of pkg/scheduler/framework/runtime/framework.go, v1.36.3. */
export class BindingRunner {
  readonly #reservers: readonly PluginAt<'reserve'>[];
  readonly #unreservers: readonly Plugin[];
  readonly #permitters: readonly PluginAt<'permit'>[];
  readonly #preBinders: readonly PluginAt<'preBind'>[];
  readonly #binders: readonly PluginAt<'bind'>[];
  readonly #postBinders: readonly PluginAt<'postBind'>[];
  readonly #onFailure: OnPluginFailure;
  readonly #undoing = new Set<Promise<void>>();
  #giveUp = new AbortController();

  /** `onFailure` gets the errors of plugins that have no say any more: of unreserve and postBind. */
  constructor(profile: ProfilePlugins, onFailure: OnPluginFailure) {
    this.#reservers = pluginsAt(profile, 'reserve');
    this.#unreservers = (profile.points?.reserve ?? profile.plugins).toReversed();
    this.#permitters = pluginsAt(profile, 'permit');
    this.#preBinders = pluginsAt(profile, 'preBind');
    this.#binders = pluginsAt(profile, 'bind');
    this.#postBinders = pluginsAt(profile, 'postBind');
    this.#onFailure = onFailure;
  }

  /** The plugins that have something to do before the pod is bound. Throws PluginError. */
  preBindersOf(state: CycleState, pod: PodInfo, nodeName: string): readonly PluginAt<'preBind'>[] {
    return this.#preBinders.filter((plugin) => {
      if (plugin.preBindPreFlight === undefined) return true;
      const answer = ask(plugin.name, 'preBind', () => plugin.preBindPreFlight?.(state, pod, nodeName));
      if (answer !== undefined && answer !== 'skip') throw wrongAnswer(plugin.name, 'preBind', '"skip" or undefined', answer);
      return answer !== 'skip';
    });
  }

  /** The first rejection ends it; what was reserved is undone by `unreserve`. */
  reserve(state: CycleState, pod: PodInfo, nodeName: string): PluginRejection | undefined {
    for (const plugin of this.#reservers) {
      const answer = ask(plugin.name, 'reserve', () => plugin.reserve(state, pod, nodeName));
      if (answer !== undefined) return asRejection(plugin.name, 'reserve', answer);
    }
    return undefined;
  }

  /** Tells every plugin, the last one first. `mayBeBound`: the pod may be on its node all the same, so that nothing is written. */
  unreserve(state: CycleState, pod: PodInfo, nodeName: string, mayBeBound = false): void {
    const signal = mayBeBound ? AbortSignal.abort(new Error('the pod may be on its node')) : this.#giveUp.signal;
    for (const plugin of this.#unreservers) {
      this.#tell(plugin.name, 'reserve', pod, () => {
        const work: unknown = plugin.unreserve?.(state, pod, nodeName, signal);
        if (work instanceof Promise) this.#undo(plugin.name, pod, work, signal);
      });
    }
  }

  /** True while plugins still undo what they have reserved. */
  get isUndoing(): boolean {
    return this.#undoing.size > 0;
  }

  /** Resolves once plugins have undone what they had reserved. */
  async undone(): Promise<void> {
    while (this.#undoing.size > 0) await Promise.all(this.#undoing);
  }

  /** Plugins write nothing any more of what they undo, until `resume()`. */
  giveUp(reason: string): void {
    this.#giveUp.abort(new Error(reason));
  }

  resume(): void {
    if (this.#giveUp.signal.aborted) this.#giveUp = new AbortController();
  }

  /** The first rejection ends it. */
  permit(state: CycleState, pod: PodInfo, nodeName: string): PermitOutcome {
    const waits = new Map<string, number>();
    for (const plugin of this.#permitters) {
      const answer = ask(plugin.name, 'permit', () => plugin.permit(state, pod, nodeName));
      if (answer === undefined) continue;
      if (typeof answer !== 'object' || answer === null || !('waitMs' in answer)) {
        return { rejection: asRejection(plugin.name, 'permit', answer), waits: new Map() };
      }
      if (!(Number(answer.waitMs) >= 0))
        throw wrongAnswer(plugin.name, 'permit', 'milliseconds to wait from 0 up', answer.waitMs);
      waits.set(plugin.name, Math.min(Number(answer.waitMs), longestWaitMs));
    }
    return { waits };
  }

  /** Asks one plugin. Rejects with PluginError, also once the signal aborts. */
  async preBind(plugin: PluginAt<'preBind'>, work: PreBindWork, signal: AbortSignal): Promise<PluginRejection | undefined> {
    const { state, podInfo, nodeName } = work;
    const answer = await settled(plugin.name, 'preBind', () => plugin.preBind(state, podInfo, nodeName, signal), signal);
    return answer === undefined ? undefined : asRejection(plugin.name, 'preBind', answer);
  }

  /** Resolves once the first plugin that does not skip the pod has bound it. Rejects with PluginError, also once the signal aborts. */
  async bind(state: CycleState, pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<void> {
    for (const plugin of this.#binders) {
      const answer = await settled(plugin.name, 'bind', () => plugin.bind(state, pod, nodeName, signal), signal);
      if (answer === 'bound') return;
      if (answer !== 'skip') throw wrongAnswer(plugin.name, 'bind', 'a promise of "bound" or "skip"', answer);
    }
    throw new PluginError('', 'bind', 'no plugin of the profile binds this pod');
  }

  postBind(state: CycleState, pod: PodInfo, nodeName: string): void {
    for (const plugin of this.#postBinders) {
      this.#tell(plugin.name, 'postBind', pod, () => plugin.postBind(state, pod, nodeName));
    }
  }

  #undo(plugin: string, pod: PodInfo, work: Promise<void>, signal: AbortSignal): void {
    const failed = (error: unknown): void => {
      if (!signal.aborted) this.#onFailure(pluginFailure(plugin, 'reserve', error), pod);
    };
    const undone: Promise<void> = untilAborted(work, signal)
      .catch(failed)
      .then(() => {
        this.#undoing.delete(undone);
      });
    this.#undoing.add(undone);
  }

  #tell(plugin: string, point: ExtensionPoint, pod: PodInfo, call: () => unknown): void {
    callGuarded(call, (error) => this.#onFailure(pluginFailure(plugin, point, error), pod));
  }
}

function ask(plugin: string, point: ExtensionPoint, call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    throw pluginFailure(plugin, point, error);
  }
}

async function settled(
  plugin: string,
  point: ExtensionPoint,
  work: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    signal.throwIfAborted();
    return await untilAborted(work(), signal);
  } catch (error) {
    throw pluginFailure(plugin, point, error);
  }
}
