import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { type AspectDifference, differences, podView } from './compare.ts';
import { type Exemption, PodHistory } from './exemptions.ts';
import { type Expected, Recording } from './expected.ts';
import { type Outcome, Player, type Variant } from './play.ts';
import type { Scenario, Step } from './scenario.ts';

export interface Difference {
  readonly scenario: string;
  readonly step: number;
  readonly op: string;
  readonly pod: string;
  readonly aspects: readonly { readonly aspect: string; readonly expected: unknown; readonly got: unknown }[];
}

export interface ScenarioResult {
  readonly steps: number;
  /** (step, pod) pairs looked at. */
  readonly pairs: number;
  readonly exempt: ReadonlyMap<Exemption, number>;
  readonly differences: readonly Difference[];
}

/** Plays one scenario and compares every pod after every step. */
export async function runScenario(scenario: Scenario, variant: Variant): Promise<ScenarioResult> {
  const run = new ScenarioRun(scenario, variant);
  const player = new Player(scenario, variant);
  try {
    for (const [index, step] of scenario.steps.entries()) run.compare(index, step, await player.play(step));
    return run.result();
  } finally {
    await player.stop();
  }
}

/** What the pod manager was given of a pod last. */
interface ManagedCopy {
  readonly initContainers: readonly string[];
  readonly status: WirePodStatus | undefined;
}

function isOutOfOrder(copy: ManagedCopy | undefined): boolean {
  return copy?.status?.initContainerStatuses?.some(({ name }, index) => name !== copy.initContainers[index]) === true;
}

class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #conditionOrder: boolean;
  readonly #recording: Recording;
  /** Pod ("namespace/name") to every uid that has carried the name. */
  readonly #pods = new Map<string, Set<string>>();
  readonly #copies = new Map<string, ManagedCopy>();
  readonly #histories = new Map<string, PodHistory>();
  readonly #exempt = new Map<Exemption, number>();
  readonly #found: Difference[] = [];
  #pairs = 0;

  constructor(scenario: Scenario, { patchFormat }: Variant) {
    this.#scenario = scenario;
    this.#conditionOrder = patchFormat !== 'json';
    this.#recording = new Recording(this.#conditionOrder);
  }

  compare(index: number, step: Step, outcome: Outcome): void {
    const expected = this.#recording.next(step);
    const { uid, name, namespace } = step.pod?.metadata ?? {};
    if (uid !== undefined) {
      const pod = `${namespace}/${name}`;
      this.#pods.set(pod, (this.#pods.get(pod) ?? new Set()).add(uid));
      const initContainers = (step.pod?.spec?.initContainers ?? []).map((container) => container.name);
      const status = step.op === 'apiserver.put' ? this.#copies.get(pod)?.status : step.pod?.status;
      this.#copies.set(pod, { initContainers, status });
    }
    if (step.op === 'podManager.observe') this.#observe(`${step.namespace}/${step.name}`, expected);
    for (const [pod, podUIDs] of this.#pods) this.#comparePair(index, step, pod, podUIDs, expected, outcome);
  }

  result(): ScenarioResult {
    return { steps: this.#scenario.steps.length, pairs: this.#pairs, exempt: this.#exempt, differences: this.#found };
  }

  #observe(pod: string, expected: Expected): void {
    const copy = this.#copies.get(pod);
    const status = expected.server[pod]?.status;
    if (copy !== undefined && status !== undefined) this.#copies.set(pod, { ...copy, status });
  }

  #comparePair(index: number, step: Step, pod: string, podUIDs: ReadonlySet<string>, expected: Expected, outcome: Outcome): void {
    this.#pairs++;
    const history = this.#histories.get(pod) ?? new PodHistory();
    this.#histories.set(pod, history);
    history.note(pod, podUIDs, step, expected, outcome);
    const [expectedView, gotView] = [podView(expected, pod, podUIDs), podView(outcome, pod, podUIDs)];
    const found: AspectDifference[] = differences(expectedView, gotView, { conditionOrder: this.#conditionOrder });
    const answer = podUIDs.has(step.podUID ?? '') ? answerDifference(expected, outcome) : undefined;
    if (found.length === 0 && answer === undefined) {
      history.agreed(step);
      return;
    }
    const views = { expectedView, gotView, initOutOfOrder: isOutOfOrder(this.#copies.get(pod)) };
    const rule = history.explain({ step, pod, podUIDs, expected, outcome, differences: found, ...views });
    if (rule !== undefined && (answer === undefined || history.livesApart || rule === 'D4 init order')) {
      history.diverged(rule);
      this.#exempt.set(rule, (this.#exempt.get(rule) ?? 0) + 1);
      return;
    }
    const aspects = answer === undefined ? found : [answer, ...found];
    this.#found.push({ scenario: this.#scenario.name, step: index, op: step.op, pod, aspects });
  }
}

/** The operation's own answer, where one is recorded. */
function answerDifference(expected: Expected, outcome: Outcome): Difference['aspects'][number] | undefined {
  for (const aspect of ['changed', 'result'] as const) {
    const [theirs, ours] = [expected[aspect], outcome[aspect]];
    if (theirs !== undefined && !isDeepStrictEqual(theirs, ours)) return { aspect, expected: theirs, got: ours };
  }
  return undefined;
}
