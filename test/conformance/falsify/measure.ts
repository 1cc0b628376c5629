import { Prng } from '../../random/chaos/prng.ts';
import { type Judgement, judge } from '../replay/judge-scenario.ts';
import { type Outcome, play, type Variant } from '../replay/play-scenario.ts';
import type { Scenario } from '../replay/replay-scenario.ts';
import { type Falsification, falsifications, falsified, type Kind, kinds } from './falsifications.ts';
import { shuffled } from './shuffled.ts';

/** A scenario as it was played once: what is told of it falsely changes nothing in that. */
interface Played {
  readonly scenario: Scenario;
  readonly outcomes: readonly Outcome[];
  readonly judgement: Judgement;
}

interface Lie {
  readonly played: Played;
  readonly falsification: Falsification;
  /** The rules that excuse something of the pair that is lied about. */
  readonly rules: readonly string[];
}

/** How many falsified recordings of one kind were found. */
export interface Measurement {
  readonly kind: Kind;
  readonly told: number;
  readonly found: number;
  /** Of those found, the ones that differ from what ours did, and do not just contradict themselves. */
  readonly foundByOurs: number;
  /** Of those told, the ones about a pair of which a rule excuses something; and how many of them were found. */
  readonly toldOfExempt: number;
  readonly foundOfExempt: number;
  readonly missed: readonly string[];
}

export interface MeasureOptions {
  /** How many of a kind are told of any pair, and as many again of pairs that are exempt in something. */
  readonly sample: number;
  readonly seed: number;
}

export async function playAll(scenarios: readonly Scenario[], variant: Variant): Promise<Played[]> {
  const played: Played[] = [];
  for (const scenario of scenarios) {
    const outcomes = await play(scenario, variant);
    played.push({ scenario, outcomes, judgement: judge(scenario, variant, outcomes) });
  }
  return played;
}

/** Tells one expectation of one step falsely, many times over, and counts how often the replay finds it. */
export function measure(played: readonly Played[], variant: Variant, { sample, seed }: MeasureOptions): Measurement[] {
  const all = played.flatMap((each) => falsifications(each.scenario).map((falsification) => lieOf(each, falsification)));
  return kinds.map((kind, index) => {
    const random = new Prng(seed + index);
    const ofKind = shuffled(
      all.filter(({ falsification }) => falsification.kind === kind),
      random,
    );
    const exempt = ofKind.filter(({ rules }) => rules.length > 0);
    const plain = ofKind.filter(({ rules }) => rules.length === 0);
    const chosen = [
      ...spread(plain, sample, ({ falsification }) => falsification.place),
      ...spread(exempt, sample, ({ rules }) => rules.join()),
    ];
    return measured(kind, chosen, variant);
  });
}

function lieOf(played: Played, falsification: Falsification): Lie {
  const { step, pod } = falsification;
  const pair = played.judgement.exempt.find((exempt) => exempt.step === step && exempt.pod === pod);
  return { played, falsification, rules: pair?.rules ?? [] };
}

/** So many of the list, from each group in turn, and from as many scenarios as there are. */
function spread(lies: readonly Lie[], count: number, groupOf: (lie: Lie) => string): Lie[] {
  const groups = new Map<string, Lie[]>();
  for (const lie of lies) groups.set(groupOf(lie), [...(groups.get(groupOf(lie)) ?? []), lie]);
  const queues = [...groups.values()].map(oneOfEachScenarioFirst);
  const chosen: Lie[] = [];
  for (let turn = 0; chosen.length < count && queues.some((queue) => queue.length > turn); turn++) {
    for (const queue of queues) {
      const lie = queue[turn];
      if (lie !== undefined && chosen.length < count) chosen.push(lie);
    }
  }
  return chosen;
}

function oneOfEachScenarioFirst(lies: readonly Lie[]): Lie[] {
  const seen = new Map<string, number>();
  const ranked = lies.map((lie) => {
    const { name } = lie.played.scenario;
    const rank = seen.get(name) ?? 0;
    seen.set(name, rank + 1);
    return { lie, rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ lie }) => lie);
}

function measured(kind: Kind, lies: readonly Lie[], variant: Variant): Measurement {
  let [found, foundByOurs, toldOfExempt, foundOfExempt] = [0, 0, 0, 0];
  const missed: string[] = [];
  for (const { played, falsification, rules } of lies) {
    const { scenario, outcomes } = played;
    const { differences } = judge(falsified(scenario, falsification), variant, outcomes);
    const isFound = differences.length > 0;
    if (isFound) found++;
    else missed.push(`${scenario.name} step ${falsification.step} ${falsification.pod}: ${kind} in ${falsification.place}`);
    if (differences.some(({ aspects }) => aspects.some(({ aspect }) => aspect !== 'recording'))) foundByOurs++;
    if (rules.length > 0) toldOfExempt++;
    if (rules.length > 0 && isFound) foundOfExempt++;
  }
  return { kind, told: lies.length, found, foundByOurs, toldOfExempt, foundOfExempt, missed };
}
