import type { DebugFleet, DebugFleetNode, DebugFleetNodeRow } from '../../../../src/observe/debug/debug-fleet-api.ts';
import { type FleetSortKey, fleetSortKeys } from '../../../../src/observe/debug/fleet-query.ts';
import { OpenPanel, type OpenPanelOptions, type OpenPanelState } from './open-panel.ts';

/** Which nodes are shown, and in which order. */
export interface FleetFilter {
  readonly text: string;
  readonly states: readonly string[];
  readonly trouble: boolean;
  readonly sort: FleetSortKey;
  readonly descending: boolean;
}

export const everyNode: FleetFilter = { text: '', states: [], trouble: false, sort: 'need', descending: false };

/** True for a filter that every node passes. */
export function isEveryNode({ text, states, trouble }: FleetFilter): boolean {
  return text.trim() === '' && states.length === 0 && !trouble;
}

/** What of a filter stands in an address. */
export function formatFleetFilter({ text, states, trouble, sort, descending }: FleetFilter, parameters: URLSearchParams): void {
  if (text !== '') parameters.set('nodes', text);
  for (const state of states) parameters.append('state', state);
  if (trouble) parameters.set('failing', 'yes');
  if (sort !== 'need' || descending) parameters.set('order', `${descending ? '-' : ''}${sort}`);
}

/** Whatever stands there, a filter comes out. */
export function parseFleetFilter(parameters: URLSearchParams): FleetFilter {
  const order = parameters.get('order') ?? '';
  return {
    text: parameters.get('nodes') ?? '',
    states: parameters.getAll('state'),
    trouble: parameters.has('failing'),
    sort: fleetSortKeys.find((key) => key === order.replace(/^-/, '')) ?? 'need',
    descending: order.startsWith('-'),
  };
}

export interface FleetModelOptions extends Pick<OpenPanelOptions<DebugFleet>, 'setTimer' | 'onChange'> {
  /** Asks the server; `query` is what follows the question mark. */
  readonly readFleet: (query: string) => Promise<DebugFleet | undefined>;
  readonly readNode: (nodeName: string) => Promise<DebugFleetNode | undefined>;
}

/** So many rows are read at once, from so many before the first one that can be seen. */
const rowsAtOnce = 200;
const rowsBefore = 60;

/** The fleet: the server finds and orders the nodes, and of them those rows are here that can be seen. */
export class FleetModel {
  readonly #openFleet: OpenPanel<DebugFleet>;
  readonly #openNode: OpenPanel<DebugFleetNode>;
  readonly #onChange: () => void;
  #filter = everyNode;
  #from = 0;
  /** The row that the keyboard is on; -1 for none. */
  #active = -1;

  constructor({ readFleet, readNode, setTimer, onChange }: FleetModelOptions) {
    this.#onChange = onChange;
    this.#openFleet = new OpenPanel({ what: 'fleet', read: () => readFleet(this.#query()), setTimer, onChange });
    this.#openNode = new OpenPanel({ what: 'node', read: readNode, setTimer, onChange });
  }

  get fleet(): DebugFleet | undefined {
    return this.#openFleet.state?.shown;
  }

  /** Why the last read gave nothing. */
  get failure(): string | undefined {
    return this.#openFleet.state?.failure;
  }

  get openNode(): OpenPanelState<DebugFleetNode> | undefined {
    return this.#openNode.state;
  }

  get filter(): FleetFilter {
    return this.#filter;
  }

  get active(): number {
    return this.#active;
  }

  show(nodeName: string | undefined): void {
    this.#openFleet.open('fleet');
    if (nodeName === undefined) this.#openNode.close();
    else this.#openNode.open(nodeName);
  }

  hide(): void {
    if (this.#openFleet.state !== undefined) this.#openFleet.close();
    this.closeNode();
  }

  closeNode(): void {
    if (this.#openNode.state !== undefined) this.#openNode.close();
  }

  refresh(): void {
    this.#openFleet.refresh();
    this.#openNode.refresh();
  }

  filterBy(filter: FleetFilter): void {
    if (JSON.stringify(filter) === JSON.stringify(this.#filter)) return;
    this.#filter = filter;
    this.#from = 0;
    this.#active = -1;
    this.#openFleet.refresh();
  }

  /** The row with this number; undefined for one that was not read. */
  row(index: number): DebugFleetNodeRow | undefined {
    return this.fleet?.nodes[index - this.fleet.from];
  }

  /** These rows can be seen: they are read where they are not here. */
  look(start: number, end: number): void {
    const { fleet } = this;
    if (fleet === undefined) return;
    const from = Math.max(0, start - rowsBefore);
    const isHere = start >= fleet.from && Math.min(end, fleet.matching) <= fleet.from + fleet.nodes.length;
    if (isHere || from === this.#from) return;
    this.#from = from;
    this.#openFleet.refresh();
  }

  /** Moves the keyboard's row by so many rows, at most to an end. Returns its number; -1 when there is no row. */
  moveActive(by: number): number {
    const last = (this.fleet?.matching ?? 0) - 1;
    this.#active = Math.min(last, Math.max(0, this.#active < 0 ? Math.max(0, by - 1) : this.#active + by));
    this.#onChange();
    return this.#active;
  }

  activate(index: number): void {
    this.#active = index;
  }

  #query(): string {
    const { text, states, trouble, sort, descending } = this.#filter;
    const parameters = new URLSearchParams({ from: String(this.#from), count: String(rowsAtOnce) });
    // the server refuses a filter of more words
    const words = text.split(/\s+/).filter((word) => word !== '');
    if (words.length > 0) parameters.set('filter', words.slice(0, 20).join(' '));
    for (const state of states.slice(0, 20)) parameters.append('state', state);
    if (trouble) parameters.set('trouble', 'yes');
    parameters.set('sort', `${descending ? '-' : ''}${sort}`);
    return parameters.toString();
  }
}
