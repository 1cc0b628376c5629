import type { SteadyClock } from '../../base/clock.ts';
import type { DebugFleet, DebugFleetNode } from './debug-fleet-api.ts';
import { askFleet, type ToldPart } from './debug-part.ts';
import { FleetHistory } from './fleet-history.ts';
import { type FleetQuery, selected } from './fleet-query.ts';
import { type DebugFleetSource, explainedRow, readFleet, readNode } from './told-fleet.ts';

const shownProblems = 100;

/** What is shown of a fleet. */
export class FleetBoard {
  readonly #fleet: DebugFleetSource;
  readonly #clock: SteadyClock;
  readonly #history: FleetHistory;

  /** Looks at the fleet from now on, until it is closed. */
  constructor(fleet: DebugFleetSource, clock: SteadyClock) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#history = new FleetHistory(clock, () => readFleet(fleet, false).members);
  }

  close(): void {
    this.#history.close();
  }

  fleet(query: FleetQuery): DebugFleet {
    const part = askFleet(this.#fleet);
    const { members, nodes, ...told } = readFleet(this.#fleet, true);
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
}

function headOf({ name, state, problemCount }: ToldPart): Pick<DebugFleet, 'name' | 'state' | 'problemCount'> {
  return { name, state, problemCount };
}

export function aliveOf(members: readonly { readonly isAlive: boolean }[]): number {
  return members.filter(({ isAlive }) => isAlive).length;
}
