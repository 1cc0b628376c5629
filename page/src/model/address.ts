import { noFilter, type PodFilter } from './pod-filter.ts';
import { type PodOrder, type SortKey, sortKeys } from './pod-order.ts';

/** What the address after `#` keeps, so that a reload, a bookmark and the Back button come to the same view. */
export interface View {
  readonly podUID: string | undefined;
  readonly filter: PodFilter;
  readonly order: PodOrder;
}

const firstOrder: PodOrder = { key: 'name', descending: false };

/** The part of an address after `#`; empty for the view that one starts with. */
export function formatView({ podUID, filter, order }: View): string {
  const parameters = new URLSearchParams();
  if (podUID !== undefined) parameters.set('pod', podUID);
  if (filter.text !== '') parameters.set('filter', filter.text);
  for (const sync of filter.sync) parameters.append('sync', sync);
  for (const phase of filter.phase) parameters.append('phase', phase);
  if (order.key !== firstOrder.key || order.descending) parameters.set('sort', `${order.descending ? '-' : ''}${order.key}`);
  return parameters.toString();
}

/** Whatever stands in the address, a view comes out. */
export function parseView(hash: string): View {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    podUID: parameters.get('pod') || undefined,
    filter: {
      ...noFilter,
      text: parameters.get('filter') ?? '',
      sync: parameters.getAll('sync'),
      phase: parameters.getAll('phase'),
    },
    order: parseOrder(parameters.get('sort') ?? ''),
  };
}

function parseOrder(text: string): PodOrder {
  const key = text.replace(/^-/, '');
  return Object.hasOwn(sortKeys, key) ? { key: key as SortKey, descending: text.startsWith('-') } : firstOrder;
}
