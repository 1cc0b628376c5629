import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { asRejection } from './answers.ts';
import type { CycleState } from './cycle-state.ts';
import { type PluginAt, pluginsAt } from './extension-points.ts';
import type { ProfilePlugins } from './handle.ts';
import { pluginFailure, wrongAnswer } from './plugin-error.ts';
import type { PluginRejection } from './status.ts';

/** What preFilter of all plugins came to. */
export interface PreFilterOutcome {
  /** Why the pod fits on no node at all. */
  readonly rejection?: PluginRejection | undefined;
  /** The nodes that are left to look at; undefined: all of them. */
  readonly nodeNames?: ReadonlySet<string> | undefined;
  /** The plugins that left nodes out. */
  readonly selectors: readonly string[];
}

/** Runs preFilter, addPod and removePod. Behaviour of pkg/scheduler/framework/runtime/framework.go, v1.36.3. */
export class PreFilterRunner {
  readonly #plugins: readonly PluginAt<'preFilter'>[];

  constructor(profile: ProfilePlugins) {
    this.#plugins = pluginsAt(profile, 'preFilter');
  }

  /**
   * Asks every plugin. A rejection that no end of other pods would change ends it at once; after any other one the rest is
   * still asked, because preemption needs what they keep.
   */
  run(state: CycleState, pod: PodInfo, snapshot: Snapshot): PreFilterOutcome {
    let rejection: PluginRejection | undefined;
    let nodeNames: ReadonlySet<string> | undefined;
    const selectors: string[] = [];
    for (const plugin of this.#plugins) {
      const answer = preFilter(plugin, state, pod, snapshot);
      if (answer === undefined) continue;
      if (answer === 'skip') {
        state.skippedFilters.add(plugin.name);
        continue;
      }
      const names = nodeNamesOf(answer);
      if (names === undefined) {
        rejection = asRejection(plugin.name, 'preFilter', answer);
        if (rejection.code !== 'Unschedulable') return { rejection, selectors: [] };
        continue;
      }
      selectors.push(plugin.name);
      const before = nodeNames;
      const left: ReadonlySet<string> = before === undefined ? names : new Set([...names].filter((name) => before.has(name)));
      nodeNames = left;
      if (left.size === 0) return { rejection: noNodeLeft(selectors), selectors };
    }
    return { rejection, nodeNames, selectors };
  }

  addPod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.#tell('addPod', state, toSchedule, pod, node);
  }

  removePod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.#tell('removePod', state, toSchedule, pod, node);
  }

  #tell(what: 'addPod' | 'removePod', state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    for (const plugin of this.#plugins) {
      if (plugin[what] === undefined || state.skippedFilters.has(plugin.name)) continue;
      let answer: unknown;
      try {
        answer = plugin[what](state, toSchedule, pod, node);
      } catch (error) {
        throw pluginFailure(plugin.name, 'preFilter', error);
      }
      if (answer !== undefined) throw wrongAnswer(plugin.name, 'preFilter', `nothing from ${what}`, answer);
    }
  }
}

function preFilter(plugin: PluginAt<'preFilter'>, state: CycleState, pod: PodInfo, snapshot: Snapshot): unknown {
  try {
    return plugin.preFilter(state, pod, snapshot);
  } catch (error) {
    throw pluginFailure(plugin.name, 'preFilter', error);
  }
}

function nodeNamesOf(answer: unknown): ReadonlySet<string> | undefined {
  const isAnswer = typeof answer === 'object' && answer !== null && 'nodeNames' in answer;
  return isAnswer && answer.nodeNames instanceof Set ? answer.nodeNames : undefined;
}

function noNodeLeft(selectors: readonly string[]): PluginRejection {
  const [only] = selectors;
  const those = selectors.length === 1 ? `plugin ${only}` : `plugin(s) [${selectors.toSorted().join(' ')}] simultaneously`;
  return { plugin: '', code: 'UnschedulableAndUnresolvable', reasons: [`node(s) didn't satisfy ${those}`] };
}
