import type { DebugFleetHistory } from '../../../../src/observe/debug/debug-fleet-api.ts';

/** Colours of the style sheet, each told from its neighbours by light and dark, too. */
const colours = ['patch', 'p99', 'delete', 'p50', 'get', 'failed'] as const;

/** One member of the chart; those for whom there is no colour are one together. */
export interface FleetSeries {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly number[];
}

/** One series for each member that has a colour, in the order of their slots, and one for all others together. */
export function fleetSeries({ at, members }: DebugFleetHistory): FleetSeries[] {
  const coloured = members.filter(({ slot }) => slot < colours.length).sort((a, b) => a.slot - b.slot);
  const others = members.filter(({ slot }) => slot >= colours.length);
  const series: FleetSeries[] = coloured.map(({ id, slot, shards }) => ({
    name: id,
    colour: colours[slot] ?? 'others',
    values: shards,
  }));
  if (others.length > 0) {
    const values = at.map((_, index) => others.reduce((sum, { shards }) => sum + (shards[index] ?? 0), 0));
    series.push({ name: `${others.length} others`, colour: 'others', values });
  }
  return series;
}
