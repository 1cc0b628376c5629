import type { WireNode } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import { ExtenderError } from '../extenders/extender-error.ts';
import type { ExtenderOptions } from '../extenders/extender-options.ts';
import { Extenders } from '../extenders/extenders.ts';
import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { BindingRunner, type OnPluginFailure } from './binding-runner.ts';
import type { ClusterObjects, ObjectLister } from './cluster-objects.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './fit-error.ts';
import { KeptAnswers } from './kept-answers.ts';
import type { CountedNominations } from './kept-filters.ts';
import {
  type ChangeAction,
  type EvictAction,
  type NarrowCandidates,
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
  readonly nominated: CountedNominations;
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
  /** The extenders that have a say in a profile with these of its own. Default: there are none. */
  extendersOf?(own: readonly ExtenderOptions[]): Extenders;
  /** The resources that an extender keeps the accounts of, so that no plugin looks at them. Default: none. */
  readonly ignoredResources?: readonly string[];
}

/**
 * One profile at work: asks its plugins from preFilter to postBind, in their order; `preEnqueue` and `less` are the queue's. What a plugin throws, and an answer that it
 * must not give, becomes a PluginError (code ERR_PLUGIN), which names the plugin and the point.
 */
export class Framework implements PluginHandle {
  readonly profile: ProfilePlugins;
  readonly filters: FilterRunner;
  readonly scores: ScoreRunner;
  readonly kept: KeptAnswers;
  readonly binding: BindingRunner;
  readonly extenders: Extenders;
  readonly #context: FrameworkContext;
  readonly #postFilters: readonly PluginAt<'postFilter'>[];

  /** `makeProfile` makes the plugins, which may keep the handle. What it throws is thrown on. */
  constructor(context: FrameworkContext, makeProfile: (handle: PluginHandle) => ProfilePlugins) {
    this.#context = context;
    this.profile = makeProfile(this);
    this.filters = new FilterRunner(this.profile, context.nominated);
    this.scores = new ScoreRunner(this.profile);
    this.kept = new KeptAnswers(this.profile, context.nominated, this.filters);
    this.binding = new BindingRunner(this.profile, context.onFailure);
    this.#postFilters = pluginsAt(this.profile, 'postFilter');
    this.extenders = context.extendersOf?.(this.profile.extenders ?? []) ?? new Extenders();
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
    const answers: PostFilterAnswer[] = [];
    for (const plugin of this.#postFilters) {
      this.#context.onPostFilter?.(plugin.name);
      const answer = checkedAnswer(
        plugin,
        givenBy(plugin, () => plugin.postFilter(state, pod, failures)),
      );
      if (answer.nominatedNodeName) return withActionsOf(answers, answer);
      answers.push(answer);
    }
    return merged(answers);
  }

  /**
   * The same where extenders have a say in which pods go: a plugin that has `postFilterAwaited` is asked by that. Rejects also with
   * ExtenderError, and with the signal's reason.
   */
  async postFilterAwaited(
    state: CycleState,
    pod: PodInfo,
    diagnosis: Diagnosis,
    signal: AbortSignal,
  ): Promise<PostFilterAnswer | undefined> {
    const snapshot = this.snapshot();
    const failures = failuresOfAll(diagnosis, snapshot);
    const narrow: NarrowCandidates = (candidates) => this.extenders.narrow(pod, candidates, (name) => snapshot.get(name), signal);
    const answers: PostFilterAnswer[] = [];
    for (const plugin of this.#postFilters) {
      this.#context.onPostFilter?.(plugin.name);
      const given =
        plugin.postFilterAwaited === undefined
          ? givenBy(plugin, () => plugin.postFilter(state, pod, failures))
          : await awaitedOf(plugin, async () => plugin.postFilterAwaited?.(state, pod, failures, narrow), signal);
      const answer = checkedAnswer(plugin, given);
      if (answer.nominatedNodeName) return withActionsOf(answers, answer);
      answers.push(answer);
    }
    return merged(answers);
  }
}

/** Undefined where no plugin was asked. */
function merged(answers: readonly PostFilterAnswer[]): PostFilterAnswer | undefined {
  if (answers.length === 0) return undefined;
  const last = answers.findLast(({ nominatedNodeName }) => nominatedNodeName !== undefined);
  const messages = answers.map(({ message }) => message).filter((message) => message !== '');
  return withActionsOf(answers, { nominatedNodeName: last?.nominatedNodeName, message: messages.join(', ') });
}

/** What the plugins before want to be done is done, whoever decides. */
function withActionsOf(others: readonly PostFilterAnswer[], answer: PostFilterAnswer): PostFilterAnswer {
  const actions = [...others, answer].flatMap((one) => one.actions ?? []);
  return actions.length === 0 ? answer : { ...answer, actions };
}

function givenBy(plugin: Plugin, call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    throw pluginFailure(plugin.name, 'postFilter', error);
  }
}

async function awaitedOf(plugin: Plugin, call: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  try {
    return await untilAborted(call(), signal);
  } catch (error) {
    throw signal.aborted || error instanceof ExtenderError ? error : pluginFailure(plugin.name, 'postFilter', error);
  }
}

function checkedAnswer(plugin: Plugin, given: unknown): PostFilterAnswer {
  const answer = given as PostFilterAnswer | null | undefined;
  const { nominatedNodeName, message } = answer ?? {};
  const isNodeName = nominatedNodeName === undefined || typeof nominatedNodeName === 'string';
  if (answer == null || typeof message !== 'string' || !isNodeName) {
    throw wrongAnswer(plugin.name, 'postFilter', 'a message and the name of a node, if any', answer);
  }
  const { actions } = answer;
  if (actions !== undefined && !(Array.isArray(actions) && actions.every(isAction))) {
    throw wrongAnswer(plugin.name, 'postFilter', actionsRule, actions);
  }
  return answer;
}

const actionsRule = 'a list of actions (kind "evict", the victim\'s PodInfo, nodeName; or kind "change", what, change)';

/** What it says is carried out later, where nobody could be told any more that it cannot be. */
function isAction(action: unknown): action is PostFilterAction {
  const { kind, what, change } = (action ?? {}) as Partial<ChangeAction>;
  if (kind === 'change') return typeof what === 'string' && typeof change === 'function';
  const { victim, nodeName } = (action ?? {}) as Partial<EvictAction>;
  const { uid, pod, priority } = (victim ?? {}) as Partial<PodInfo>;
  const isPod = typeof uid === 'string' && typeof priority === 'number' && typeof pod === 'object' && pod !== null;
  return (kind as unknown) === 'evict' && typeof nodeName === 'string' && isPod;
}

/** A pod that was rejected as such fails on every node. */
function failuresOfAll({ failures, rest, isRejectedAsSuch }: Diagnosis, snapshot: Snapshot): NodeFailures {
  if (rest === undefined || !isRejectedAsSuch) return failures;
  return new Map(snapshot.nodes.map(({ name }) => [name, rest]));
}
