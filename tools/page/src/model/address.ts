import type { DebugPart } from '../../../../src/observe/debug/debug-api.ts';
import { isTroubleAsked, type PodFilter } from '../../../../src/observe/debug/pod-table.ts';
import { type FleetFilter, formatFleetFilter, parseFleetFilter } from './fleet-model.ts';
import { firstOrder, orderText, type PodOrder, parseOrder } from './pod-order.ts';

export type PartKind = DebugPart['kind'];

const partKinds = ['node', 'scheduler', 'fleet'] as const;

/** What the address after `#` keeps, so that a reload, a bookmark and the Back button come to the same view. */
export interface View {
  /** The pod whose panel is open. */
  readonly podUID: string | undefined;
  /** The part whose panel is open; a pod comes before it. The fleet has the place of the pods. */
  readonly part: PartKind | 'fleet' | undefined;
  /** The node of the fleet whose panel is open. */
  readonly fleetNode: string | undefined;
  readonly fleetFilter: FleetFilter;
  readonly filter: PodFilter;
  readonly order: PodOrder;
}

/** The part of an address after `#`; empty for the view that one starts with. */
export function formatView({ podUID, part, fleetNode, fleetFilter, filter, order }: View): string {
  const parameters = new URLSearchParams();
  if (podUID !== undefined) parameters.set('pod', podUID);
  if (part !== undefined) parameters.set('panel', part);
  if (fleetNode !== undefined) parameters.set('node', fleetNode);
  formatFleetFilter(fleetFilter, parameters);
  if (filter.trouble) parameters.set('trouble', 'yes');
  if (filter.text !== '') parameters.set('filter', filter.text);
  for (const sync of filter.sync) parameters.append('sync', sync);
  for (const phase of filter.phase) parameters.append('phase', phase);
  const sort = orderText(order);
  if (sort !== orderText(firstOrder)) parameters.set('sort', sort);
  return parameters.toString();
}

/** Whatever stands in the address, a view comes out. */
export function parseView(hash: string): View {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const podUID = parameters.get('pod') || undefined;
  const fleetNode = parameters.get('node') || undefined;
  const part = fleetNode === undefined ? partKinds.find((kind) => kind === parameters.get('panel')) : 'fleet';
  return {
    podUID,
    part: podUID === undefined ? part : undefined,
    fleetNode: podUID === undefined ? fleetNode : undefined,
    fleetFilter: parseFleetFilter(parameters),
    filter: {
      text: parameters.get('filter') ?? '',
      sync: parameters.getAll('sync'),
      phase: parameters.getAll('phase'),
      trouble: isTroubleAsked(parameters),
    },
    order: parseOrder(parameters.get('sort') ?? ''),
  };
}
