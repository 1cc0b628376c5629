import type { Departure } from './fleet-record.ts';

/** An accepted write of a member for a node. */
interface Service {
  readonly member: string;
  readonly nodeName: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A node of a member that left or was hindered. */
export interface HandOver {
  readonly nodeName: string;
  readonly from: string;
  readonly how: Departure['how'];
  /** The member that wrote for the node next; undefined: nobody did, or the one that was hindered wrote before. */
  readonly to: string | undefined;
  /** From the departure until the answer to that member's first write. */
  readonly gapMs: number | undefined;
}

/** For each node that a departing member owned: who served it next, and how long that took. */
export function handOvers(
  departures: readonly Departure[],
  services: readonly Service[],
  holderAtTime: (nodeName: string, at: number) => string,
): HandOver[] {
  const byNode = Map.groupBy(
    services.toSorted((a, b) => a.at - b.at),
    ({ nodeName }) => nodeName,
  );
  return departures.flatMap(({ member, how, at }) =>
    [...byNode].flatMap(([nodeName, own]) => {
      if (holderAtTime(nodeName, at) !== member) return [];
      // one that ends writes what is left; one that was hindered and writes again has kept the node
      const isOver = how === 'stopped' || how === 'killed';
      const first = own.find((service) => service.at > at && (!isOver || service.member !== member));
      const next = first?.member === member ? undefined : first;
      return [{ nodeName, from: member, how, to: next?.member, gapMs: next && next.at - at }];
    }),
  );
}

/** The value that so large a part of the values does not exceed; undefined of none. */
export function percentile(values: readonly number[], part: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
