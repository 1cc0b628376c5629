// Rules of filterPodsWithPDBViolation, pkg/scheduler/framework/plugins/defaultpreemption, v1.36.3.

import { isJsonObject } from '../../api/json/json.ts';
import {
  type GivenLabelSelector,
  type LabelSelector,
  parseLabelSelector,
  selectsNothing,
} from '../../api/selectors/label-selector.ts';
import type { SelectingObject } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

interface Budget {
  readonly selector: LabelSelector;
  readonly disruptionsAllowed: number;
  /** The names of pods whose eviction the apiserver has counted already. */
  readonly disrupted: ReadonlySet<string>;
}

/** The disruption budgets, read namespace by namespace when they are asked for. One search sees each budget in one state. */
export class Budgets {
  readonly #list: (namespace: string) => readonly SelectingObject[];
  readonly #byNamespace = new Map<string, readonly Budget[]>();

  constructor(list: (namespace: string) => readonly SelectingObject[]) {
    this.#list = list;
  }

  /** Those that count this pod. A pod without labels is counted by none. */
  of({ namespace, pod: { metadata } }: PodInfo): readonly Budget[] {
    const labels = metadata?.labels ?? {};
    if (Object.keys(labels).length === 0) return none;
    const name = metadata?.name ?? '';
    return this.#in(namespace).filter(({ selector, disrupted }) => selector.matches(labels) && !disrupted.has(name));
  }

  #in(namespace: string): readonly Budget[] {
    let budgets = this.#byNamespace.get(namespace);
    if (budgets === undefined) {
      budgets = this.#list(namespace).map(readBudget);
      this.#byNamespace.set(namespace, budgets);
    }
    return budgets;
  }
}

/**
 * Divides the pods into those whose end would violate a budget, if they went one after the other in this order, and the
 * others. A budget counts down for each pod that it selects, whether the pod will go or not.
 */
export function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: Budgets,
): { kept: readonly PodInfo[]; others: readonly PodInfo[] } {
  const left = new Map<Budget, number>();
  const [kept, others]: [PodInfo[], PodInfo[]] = [[], []];
  for (const pod of pods) {
    let violates = false;
    for (const budget of budgets.of(pod)) {
      const allowed = (left.get(budget) ?? budget.disruptionsAllowed) - 1;
      left.set(budget, allowed);
      if (allowed < 0) violates = true;
    }
    (violates ? kept : others).push(pod);
  }
  return { kept, others };
}

function readBudget({ spec, status }: SelectingObject): Budget {
  const { disruptionsAllowed, disruptedPods } = isJsonObject(status) ? status : ({} as Readonly<Record<string, unknown>>);
  return {
    selector: readSelector(spec?.selector),
    disruptionsAllowed: typeof disruptionsAllowed === 'number' ? disruptionsAllowed : 0,
    disrupted: new Set(isJsonObject(disruptedPods) ? Object.keys(disruptedPods) : []),
  };
}

/** A budget with an empty selector, or with one that breaks a rule, selects no pod. */
function readSelector(given: unknown): LabelSelector {
  try {
    const selector = parseLabelSelector('spec.selector', given as GivenLabelSelector | null | undefined);
    return selector.matchesAll ? selectsNothing : selector;
  } catch {
    return selectsNothing;
  }
}

const none: readonly never[] = [];
