import type { SteadyClock } from '../../base/clock.ts';
import type { DebugFleet, DebugFleetNode } from './debug-fleet-api.ts';
import { askFleet, type ToldPart } from './debug-part.ts';
import { FleetHistory } from './fleet-history.ts';
import { type FleetQuery, selected } from './fleet-query.ts';
import { type DebugFleetSource, explainedRow, readFleet, readNode, type ToldFleet } from './told-fleet.ts';

const shownProblems = 100;
/** An answer without nodes counts for so long: a fleet asks all of its nodes what is wrong. */
const freshMs = 1_000;

interface Asked {
  readonly part: ToldPart<'fleet'>;
  readonly told: ToldFleet;
}

/** What is shown of a fleet. */
export class FleetBoard {
  readonly #fleet: DebugFleetSource;
  readonly #clock: SteadyClock;
  readonly #history: FleetHistory;
  #last: (Asked & { readonly at: number }) | undefined;

  /** Looks at the fleet from now on, until it is closed. */
  constructor(fleet: DebugFleetSource, clock: SteadyClock) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#history = new FleetHistory(clock, () => this.#head().told.members);
  }

  close(): void {
    this.#history.close();
  }

  /** The fleet without its nodes, as it was at most a second ago. */
  part(): ToldPart<'fleet'> {
    return this.#head().part;
  }

  fleet(query: FleetQuery): DebugFleet {
    const {
      part,
      told: { members, nodes, ...told },
    } = this.#ask(true);
    const passing = selected(nodes, query);
    const byState: Record<string, number> = {};
    for (const { state } of nodes) byState[state] = (byState[state] ?? 0) + 1;
    return {
      at: this.#clock.now(),
      ...headOf(part),
      ...told,
      members: aliveOf(members),
      allMembers: members,
      byState,
      problems: part.problems.slice(0, shownProblems),
      history: this.#history.shown(),
      known: nodes.length,
      matching: passing.length,
      from: query.from,
      // the reasons are asked for where they are shown: each takes the fleet a while
      nodes: passing.slice(query.from, query.from + query.count).map((row) => explainedRow(this.#fleet, row)),
    };
  }

  /** Undefined for a node that the fleet does not know. */
  node(nodeName: string): DebugFleetNode | undefined {
    return readNode(this.#fleet, nodeName, this.#clock.now());
  }

  #head(): Asked {
    const at = this.#clock.elapsed();
    if (this.#last === undefined || at - this.#last.at >= freshMs) this.#last = { at, ...this.#ask(false) };
    return this.#last;
  }

  #ask(nodes: boolean): Asked {
    let answer: unknown;
    const part = askFleet(() => {
      answer = this.#fleet.snapshot({ nodes });
      return answer;
    });
    return { part, told: readFleet(answer) };
  }
}

function headOf({ name, state, problemCount }: ToldPart): Pick<DebugFleet, 'name' | 'state' | 'problemCount'> {
  return { name, state, problemCount };
}

function aliveOf(members: readonly { readonly isAlive: boolean }[]): number {
  return members.filter(({ isAlive }) => isAlive).length;
}
