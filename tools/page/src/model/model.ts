import type {
  DebugChanges,
  DebugPart,
  DebugPod,
  DebugSnapshot,
  DebugSummary,
  DebugTraffic,
} from '../../../../src/observe/debug/debug-api.ts';
import type { PodFilter } from '../../../../src/observe/debug/pod-table.ts';
import { formatView, type PartKind, parseView, type View } from './address.ts';
import { Connection, type ConnectionOptions, type ConnectionState } from './connection.ts';
import { everyNode, type FleetFilter, FleetModel, type FleetModelOptions } from './fleet-model.ts';
import { OpenPanel, type OpenPanelState } from './open-panel.ts';
import { noFilter } from './pod-filter.ts';
import type { PodOrder, SortKey } from './pod-order.ts';
import { PodRows } from './pod-rows.ts';
import { mergeTraffic } from './traffic.ts';

export interface ModelOptions {
  readonly openStream: ConnectionOptions['openStream'];
  /** Undefined when there is none of that UID. */
  readonly readPod: (podUID: string) => Promise<DebugPod | undefined>;
  readonly readPart: (kind: string) => Promise<DebugPart | undefined>;
  readonly readFleet: FleetModelOptions['readFleet'];
  readonly readFleetNode: FleetModelOptions['readNode'];
  readonly setTimer: ConnectionOptions['setTimer'];
  readonly now: () => number;
  /** Called after every change of anything that is shown. */
  readonly onChange: () => void;
  /** Puts the view into the address; `isStep` when the Back button is to undo it. */
  readonly onView: (address: string, isStep: boolean) => void;
}

/** Everything that the page shows, and every way in which it changes. */
export class Model {
  readonly rows = new PodRows();
  readonly fleet: FleetModel;
  readonly #options: ModelOptions;
  readonly #connection: Connection;
  readonly #openPod: OpenPanel<DebugPod>;
  readonly #openPart: OpenPanel<DebugPart>;
  #summary: DebugSummary | undefined;
  /** The reader has asked for the fleet. */
  #wantsFleet = false;
  #traffic: readonly DebugTraffic[] = [];
  /** The row that the keyboard is on. */
  #activeUID: string | undefined;
  /** The server's clock minus ours. */
  #skewMs = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    const { openStream, setTimer, now, onChange } = options;
    this.#connection = new Connection({
      openStream,
      setTimer,
      now,
      onState: onChange,
      onSnapshot: (snapshot) => this.#takeSnapshot(snapshot),
      onChanges: (changes) => this.#takeChanges(changes),
    });
    this.#openPod = new OpenPanel({ what: 'pod', read: options.readPod, setTimer, onChange });
    this.#openPart = new OpenPanel({ what: 'part', read: options.readPart, setTimer, onChange });
    const { readFleet, readFleetNode: readNode } = options;
    this.fleet = new FleetModel({ readFleet, readNode, setTimer, onChange });
  }

  get summary(): DebugSummary | undefined {
    return this.#summary;
  }

  get traffic(): readonly DebugTraffic[] {
    return this.#traffic;
  }

  get connection(): ConnectionState {
    return this.#connection.state;
  }

  get openPod(): OpenPanelState<DebugPod> | undefined {
    return this.#openPod.state;
  }

  get openPart(): OpenPanelState<DebugPart> | undefined {
    return this.#openPart.state;
  }

  /** True while a panel stands beside the table. */
  get hasPanel(): boolean {
    return this.openPod !== undefined || this.openPart !== undefined || this.fleet.openNode !== undefined;
  }

  /** True where the fleet has the place of the pods: the reader wants it so, or there is nothing but a fleet. */
  get isFleetShown(): boolean {
    const { fleet } = this.#summary ?? {};
    return fleet !== undefined && (this.#wantsFleet || !this.hasPods);
  }

  /** True where there is somebody who knows pods. */
  get hasPods(): boolean {
    return this.#summary !== undefined && (this.#summary.state !== 'none' || this.#summary.scheduler !== undefined);
  }

  get activeUID(): string | undefined {
    return this.#activeUID;
  }

  /** The time on the server, as far as it is known. */
  now(): number {
    return this.#options.now() + this.#skewMs;
  }

  /** Goes to the view of an address, and connects. */
  start(address: string): void {
    this.visit(address);
    this.#connection.start();
  }

  /** Goes to the view of an address, as the Back button does. */
  visit(address: string): void {
    const { podUID, part, fleetNode, fleetFilter, filter, order } = parseView(address);
    this.rows.filterBy(filter);
    this.rows.sortBy(order);
    if (podUID === undefined) this.#openPod.close();
    else this.#openPod.open(podUID);
    if (part === undefined || part === 'fleet') this.#openPart.close();
    else this.#openPart.open(part);
    this.#wantsFleet = part === 'fleet';
    this.fleet.filterBy(fleetFilter);
    this.#followFleet(fleetNode);
    this.#activeUID = podUID ?? this.#activeUID;
    this.#options.onChange();
  }

  pause(): void {
    this.#connection.pause();
  }

  resume(): void {
    this.#connection.start();
  }

  /** To be called every second: what a part did last is read again, of which nothing tells. */
  tick(): void {
    if (this.connection.kind === 'live') {
      this.#openPart.refresh();
      this.fleet.refresh();
    }
    this.#options.onChange();
  }

  hurry(): void {
    this.#connection.hurry();
  }

  filterBy(filter: Partial<PodFilter>): void {
    this.rows.filterBy({ ...this.rows.filter, ...filter });
    this.#viewChanged(false);
  }

  /** Of the fleet while it is shown, else of the pods. */
  clearFilter(): void {
    if (this.isFleetShown)
      this.filterFleetBy({ ...everyNode, sort: this.fleet.filter.sort, descending: this.fleet.filter.descending });
    else this.filterBy(noFilter);
  }

  /** Only what is in trouble, and all again. */
  toggleTrouble(): void {
    if (this.isFleetShown) this.filterFleetBy({ trouble: !this.fleet.filter.trouble });
    else this.filterBy({ trouble: !this.rows.filter.trouble });
  }

  filterFleetBy(filter: Partial<FleetFilter>): void {
    this.fleet.filterBy({ ...this.fleet.filter, ...filter });
    this.#viewChanged(false);
  }

  openFleetNode(nodeName: string): void {
    if (this.fleet.openNode?.key === nodeName) return;
    this.#openPod.close();
    this.#openPart.close();
    this.#wantsFleet = true;
    this.fleet.show(nodeName);
    this.#viewChanged(true);
  }

  sortBy(order: PodOrder): void {
    this.rows.sortBy(order);
    this.#viewChanged(false);
  }

  /** Sorts by a column; by the same column again, the other way round. */
  toggleSort(key: SortKey): void {
    const { key: current, descending } = this.rows.order;
    this.sortBy({ key, descending: key === current && !descending });
  }

  open(podUID: string): void {
    this.#activeUID = podUID;
    if (this.openPod?.key === podUID) return;
    this.#openPart.close();
    this.#wantsFleet = false;
    this.#followFleet(undefined);
    this.#openPod.open(podUID);
    this.#viewChanged(true);
  }

  /** Opens the panel of the node or of the scheduler, or shows the fleet in place of the pods. */
  openPanelOf(part: PartKind | 'fleet'): void {
    if (this.openPart?.key === part || (part === 'fleet' && this.isFleetShown)) return;
    this.#openPod.close();
    if (part === 'fleet') this.#openPart.close();
    else this.#openPart.open(part);
    this.#wantsFleet = part === 'fleet';
    this.#followFleet(undefined);
    this.#viewChanged(true);
  }

  /** Closes the panel, whatever it shows. */
  close(): void {
    if (!this.hasPanel) return;
    this.#openPod.close();
    this.#openPart.close();
    this.fleet.closeNode();
    this.#viewChanged(true);
  }

  /** Moves the keyboard's row by so many rows, at most to an end. Returns its index; -1 when there is no row. */
  moveActive(by: number): number {
    const { shown } = this.rows;
    const from = this.activeIndex();
    const index = Math.max(0, Math.min(shown.length - 1, from < 0 ? Math.max(0, by - 1) : from + by));
    this.#activeUID = shown[index]?.podUID;
    this.#options.onChange();
    return shown.length === 0 ? -1 : index;
  }

  /** Where the keyboard's row is among the shown ones; -1 when it is not. */
  activeIndex(): number {
    return this.rows.shown.findIndex(({ podUID }) => podUID === this.#activeUID);
  }

  /** The address of this page with another panel open; empty parts close it. */
  addressOf({ podUID, part, fleetNode }: Partial<Pick<View, 'podUID' | 'part' | 'fleetNode'>>): string {
    const { filter, order } = this.rows;
    return `#${formatView({ podUID, part, fleetNode, fleetFilter: this.fleet.filter, filter, order })}`;
  }

  #viewChanged(isStep: boolean): void {
    const view: View = {
      podUID: this.openPod?.key,
      part: this.#wantsFleet ? 'fleet' : this.openPart?.key === 'scheduler' ? 'scheduler' : this.openPart && 'node',
      fleetNode: this.fleet.openNode?.key,
      fleetFilter: this.fleet.filter,
      filter: this.rows.filter,
      order: this.rows.order,
    };
    this.#options.onView(formatView(view), isStep);
    this.#options.onChange();
  }

  #takeSnapshot({ summary, traffic, pods }: DebugSnapshot): void {
    this.rows.replaceAll(pods);
    this.#traffic = mergeTraffic([], traffic);
    this.#takeSummary(summary);
    this.#openPod.refresh();
    this.#openPart.refresh();
  }

  #takeChanges({ summary, traffic, changed, removed }: DebugChanges): void {
    this.rows.apply(changed, removed);
    this.#traffic = mergeTraffic(this.#traffic, traffic);
    const opened = this.openPod?.key;
    if (changed.some(({ podUID }) => podUID === opened) || removed.some((podUID) => podUID === opened)) this.#openPod.refresh();
    this.#openPart.refresh();
    this.#takeSummary(summary);
  }

  /** Reads the fleet while it is shown, and nothing of it else. */
  #followFleet(nodeName: string | undefined): void {
    if (this.isFleetShown || nodeName !== undefined) this.fleet.show(nodeName);
    else this.fleet.hide();
  }

  #takeSummary(summary: DebugSummary): void {
    this.#summary = summary;
    this.#followFleet(this.fleet.openNode?.key);
    this.#skewMs = summary.at - this.#options.now();
    this.#options.onChange();
  }
}
