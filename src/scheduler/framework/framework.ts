import type { WireNode } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { BindingRunner, type OnPluginFailure } from './binding-runner.ts';
import type { ClusterObjects, ObjectLister } from './cluster-objects.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './fit-error.ts';
import {
  type NodeFailures,
  type NominatedPods,
  type Plugin,
  type PluginAt,
  type PluginHandle,
  type PluginRejection,
  type PostFilterAction,
  type PostFilterAnswer,
  type PreFilterAnswer,
  type ProfilePlugins,
  pluginsAt,
  type SharedKey,
} from './plugin.ts';
import { pluginFailure, wrongAnswer } from './plugin-error.ts';
import { FilterRunner, type PreFilterOutcome, ScoreRunner } from './plugin-runner.ts';
import type { SchedulerClient } from './scheduler-client.ts';

/** What a profile's plugins are given of the scheduler. */
export interface FrameworkContext {
  /** The snapshot of the present cycle. */
  snapshot(): Snapshot;
  /** The node as it is at this moment. */
  node(name: string): WireNode | undefined;
  readonly objects: Pick<ClusterObjects, 'lister'>;
  readonly nominated: NominatedPods;
  readonly client: SchedulerClient;
  /** True while the victims of this pod are being deleted. */
  isPreempting(podUID: string): boolean;
  /** From 0 up to, but not including, 1. */
  random(): number;
  readonly clock: Clock;
  /** What the plugins of all profiles share. */
  readonly shared: Map<SharedKey<unknown>, unknown>;
  /** Told of each plugin that is asked to make room for a pod, before it is. Must not throw. Default: nobody is. */
  readonly onPostFilter?: (plugin: string) => void;
  /** Gets the errors of plugins that have no say any more: of unreserve and postBind. */
  readonly onFailure: OnPluginFailure;
}

/**
 * One profile at work: asks its plugins from preFilter to postBind, in their order; `preEnqueue` and `less` are the queue's. What a plugin throws, and an answer that it
 * must not give, becomes a PluginError (code ERR_PLUGIN), which names the plugin and the point.
 */
export class Framework implements PluginHandle {
  readonly profile: ProfilePlugins;
  readonly filters: FilterRunner;
  readonly scores: ScoreRunner;
  readonly binding: BindingRunner;
  readonly #context: FrameworkContext;
  readonly #postFilters: readonly PluginAt<'postFilter'>[];

  /** `makeProfile` makes the plugins, which may keep the handle. What it throws is thrown on. */
  constructor(context: FrameworkContext, makeProfile: (handle: PluginHandle) => ProfilePlugins) {
    this.#context = context;
    this.profile = makeProfile(this);
    this.filters = new FilterRunner(this.profile, context.nominated);
    this.scores = new ScoreRunner(this.profile);
    this.binding = new BindingRunner(this.profile, context.onFailure);
    this.#postFilters = pluginsAt(this.profile, 'postFilter');
  }

  get schedulerName(): string {
    return this.profile.schedulerName;
  }

  objects<T extends ApiObject>(resource: ApiResource<T>): ObjectLister<T> {
    return this.#context.objects.lister(resource);
  }

  get nominated(): NominatedPods {
    return this.#context.nominated;
  }

  get client(): SchedulerClient {
    return this.#context.client;
  }

  snapshot(): Snapshot {
    return this.#context.snapshot();
  }

  node(name: string): WireNode | undefined {
    return this.#context.node(name);
  }

  isPreempting(podUID: string): boolean {
    return this.#context.isPreempting(podUID);
  }

  random(): number {
    return this.#context.random();
  }

  get clock(): Clock {
    return this.#context.clock;
  }

  shared<T>(key: SharedKey<T>, make: () => T): T {
    const { shared } = this.#context;
    if (!shared.has(key)) shared.set(key, make());
    return shared.get(key) as T;
  }

  preFilter(state: CycleState, pod: PodInfo): PreFilterOutcome {
    return this.filters.preFilter(state, pod, this.snapshot());
  }

  runPreFilters(state: CycleState, pod: PodInfo): PluginRejection | PreFilterAnswer {
    const { rejection, nodeNames } = this.preFilter(state, pod);
    return rejection ?? (nodeNames && { nodeNames });
  }

  runFiltersWithNominated(state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined {
    return this.filters.filterWithNominated(state, pod, node);
  }

  runAddPod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.filters.addPod(state, toSchedule, pod, node);
  }

  runRemovePod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.filters.removePod(state, toSchedule, pod, node);
  }

  /**
   * Asks the plugins that may make room, in their order, until one of them has found a node for the pod. Their messages are
   * joined by `, `. Undefined where the profile has no such plugin.
   */
  postFilter(state: CycleState, pod: PodInfo, diagnosis: Diagnosis): PostFilterAnswer | undefined {
    const failures = failuresOfAll(diagnosis, this.snapshot());
    const messages: string[] = [];
    let last: PostFilterAnswer | undefined;
    for (const plugin of this.#postFilters) {
      this.#context.onPostFilter?.(plugin.name);
      const answer = postFilterAnswer(plugin, () => plugin.postFilter(state, pod, failures));
      if (answer.nominatedNodeName) return answer;
      if (answer.nominatedNodeName !== undefined) last = answer;
      if (answer.message !== '') messages.push(answer.message);
    }
    if (this.#postFilters.length === 0) return undefined;
    return { nominatedNodeName: last?.nominatedNodeName, message: messages.join(', ') };
  }
}

function postFilterAnswer(plugin: Plugin, call: () => PostFilterAnswer): PostFilterAnswer {
  let answer: PostFilterAnswer | null | undefined;
  try {
    answer = call();
  } catch (error) {
    throw pluginFailure(plugin.name, 'postFilter', error);
  }
  const { nominatedNodeName, message } = answer ?? {};
  const isNodeName = nominatedNodeName === undefined || typeof nominatedNodeName === 'string';
  if (answer == null || typeof message !== 'string' || !isNodeName) {
    throw wrongAnswer(plugin.name, 'postFilter', 'a message and the name of a node, if any', answer);
  }
  const { actions } = answer;
  if (actions !== undefined && !(Array.isArray(actions) && actions.every(isAction))) {
    throw wrongAnswer(plugin.name, 'postFilter', 'a list of actions (kind "evict", the victim\'s PodInfo, nodeName)', actions);
  }
  return answer;
}

/** What it says is carried out later, where nobody could be told any more that it cannot be. */
function isAction(action: unknown): action is PostFilterAction {
  const { kind, victim, nodeName } = (action ?? {}) as Partial<PostFilterAction>;
  const { uid, pod, priority } = (victim ?? {}) as Partial<PodInfo>;
  const isPod = typeof uid === 'string' && typeof priority === 'number' && typeof pod === 'object' && pod !== null;
  return kind === 'evict' && typeof nodeName === 'string' && isPod;
}

/** A pod that was rejected as such fails on every node. */
function failuresOfAll({ failures, rest, isRejectedAsSuch }: Diagnosis, snapshot: Snapshot): NodeFailures {
  if (rest === undefined || !isRejectedAsSuch) return failures;
  return new Map(snapshot.nodes.map(({ name }) => [name, rest]));
}
