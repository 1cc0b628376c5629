import type { NodeLabelArgs } from './plugins/node-label.ts';
import type { RatioArgs } from './plugins/resource-scores.ts';
import type { ServiceAffinityArgs } from './plugins/service-affinity.ts';
import type { PredicatePolicy, PriorityPolicy } from './policy.ts';

/** What the entries of a policy give to plugins: all entries of one sort go to one plugin. */
export class PlannedArguments {
  /** How much required affinity of running pods counts. */
  readonly hardPodAffinityWeight: number;
  readonly #present: string[] = [];
  readonly #absent: string[] = [];
  readonly #preferredPresent: string[] = [];
  readonly #preferredAbsent: string[] = [];
  readonly #affinity: string[] = [];
  readonly #antiAffinity: string[] = [];
  #ratio: RatioArgs = { shape: [], resources: [] };

  constructor(hardPodAffinityWeight: number | undefined) {
    // 0 is Go's absent value: upstream takes its default for it
    this.hardPodAffinityWeight = hardPodAffinityWeight || 1;
  }

  /** Returns the name of the predicate that the argument belongs to. */
  addPredicate(argument: NonNullable<PredicatePolicy['argument']>): string {
    if ('serviceAffinity' in argument) {
      this.#affinity.push(...argument.serviceAffinity.labels);
      return 'CheckServiceAffinity';
    }
    const { labels, presence } = argument.labelsPresence;
    (presence ? this.#present : this.#absent).push(...labels);
    return 'CheckNodeLabelPresence';
  }

  /** Returns the name of the priority that the argument belongs to. */
  addPriority(argument: NonNullable<PriorityPolicy['argument']>): string {
    if ('serviceAntiAffinity' in argument) {
      this.#antiAffinity.push(argument.serviceAntiAffinity.label);
      return 'ServiceAffinity';
    }
    if ('labelPreference' in argument) {
      const { label, presence } = argument.labelPreference;
      (presence ? this.#preferredPresent : this.#preferredAbsent).push(label);
      return 'NodeLabel';
    }
    const { shape, resources = [] } = argument.requestedToCapacityRatioArguments;
    this.#ratio = { shape, resources };
    return 'RequestedToCapacityRatio';
  }

  /** By how many labels the plugin scores, and so how often its weight counts; 1 for a plugin that has none. */
  labelsScoredBy(plugin: string): number {
    if (plugin === 'NodeLabel') return this.#preferredPresent.length + this.#preferredAbsent.length;
    return plugin === 'ServiceAffinity' ? this.#antiAffinity.length : 1;
  }

  get nodeLabel(): NodeLabelArgs {
    return {
      present: this.#present,
      absent: this.#absent,
      preferredPresent: this.#preferredPresent,
      preferredAbsent: this.#preferredAbsent,
    };
  }

  get serviceAffinity(): ServiceAffinityArgs {
    return { affinityLabels: this.#affinity, antiAffinityLabels: this.#antiAffinity };
  }

  get ratio(): RatioArgs {
    return this.#ratio;
  }
}
