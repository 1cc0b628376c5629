import { Component, createRef, type VNode } from 'preact';
import { everyNode, type FleetModel } from '../model/fleet-model.ts';
import type { Model } from '../model/model.ts';
import { rowWindow, scrollTo } from '../model/row-window.ts';
import { fleetColumns } from '../text/node-words.ts';
import { FleetRow } from './fleet-row.tsx';
import { tableId } from './keys.ts';

export interface FleetTableProps {
  readonly model: Model;
  readonly isNarrow: boolean;
}

const headHeight = 36;

/** The table of nodes: a grid as that of the pods, of which the rows that can be seen are drawn, and a few more are read. */
export class FleetTable extends Component<FleetTableProps> {
  readonly #grid = createRef<HTMLDivElement>();

  override componentDidMount(): void {
    // its height is not known before it is there
    this.setState({});
  }

  override componentDidUpdate(): void {
    const { start, end } = this.#window();
    this.props.model.fleet.look(start, end);
  }

  override render({ model, isNarrow }: FleetTableProps): VNode {
    const { fleet, active } = model.fleet;
    const { start, end } = this.#window();
    const rowHeight = rowHeightOf(isNarrow);
    const matching = fleet?.matching ?? 0;
    const drawn = Array.from({ length: end - start }, (_, offset) => start + offset);
    return (
      <div
        ref={this.#grid}
        id={tableId}
        class="pod-table"
        role="grid"
        tabIndex={0}
        aria-label="Nodes"
        aria-rowcount={matching + 1}
        aria-colcount={fleetColumns.length}
        aria-activedescendant={active >= start && active < end ? `row-${active}` : undefined}
        aria-busy={fleet === undefined}
        onScroll={() => this.setState({})}
        onKeyDown={(event) => this.#onKey(event)}
      >
        <Head model={model} />
        <div role="rowgroup" class="rows" style={{ height: `${matching * rowHeight}px` }}>
          {drawn.map((index) => (
            <FleetRow
              key={index % (end - start)}
              row={model.fleet.row(index)}
              index={index}
              top={index * rowHeight}
              now={model.now()}
              isActive={index === active}
              openName={model.fleet.openNode?.key}
              onOpen={() => open(model, index)}
            />
          ))}
        </div>
        {matching === 0 ? <Empty model={model} /> : null}
      </div>
    );
  }

  #window(): { start: number; end: number } {
    const { model, isNarrow } = this.props;
    const grid = this.#grid.current;
    return rowWindow(grid?.scrollTop ?? 0, grid?.clientHeight ?? 0, rowHeightOf(isNarrow), model.fleet.fleet?.matching ?? 0);
  }

  #onKey(event: KeyboardEvent): void {
    const { model, isNarrow } = this.props;
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((this.#grid.current?.clientHeight ?? 0) / rowHeightOf(isNarrow)) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.MAX_SAFE_INTEGER,
    };
    const step = steps[event.key];
    if (step !== undefined) this.#moveTo(model.fleet.moveActive(step));
    else if (event.key === 'Enter' && model.fleet.active >= 0) open(model, model.fleet.active);
    else return;
    event.preventDefault();
  }

  #moveTo(index: number): void {
    const grid = this.#grid.current;
    if (grid === null || index < 0) return;
    const { isNarrow } = this.props;
    const top = scrollTo(index, grid.scrollTop, grid.clientHeight, rowHeightOf(isNarrow), isNarrow ? 0 : headHeight);
    if (top !== undefined) grid.scrollTop = top;
  }
}

function open(model: Model, index: number): void {
  const row = model.fleet.row(index);
  if (row === undefined) return;
  model.fleet.activate(index);
  model.openFleetNode(row.nodeName);
}

/** As the style sheet has it. */
function rowHeightOf(isNarrow: boolean): number {
  return isNarrow ? 60 : 34;
}

function Head({ model }: { readonly model: Model }): VNode {
  const { sort, descending } = model.fleet.filter;
  return (
    <div role="rowgroup" class="head">
      <div role="row" class="pod-row fleet-row" aria-rowindex={1}>
        {fleetColumns.map(([key, cell, title]) => (
          <div
            key={key}
            role="columnheader"
            class={`cell-${cell}`}
            aria-sort={key === sort ? (descending ? 'descending' : 'ascending') : 'none'}
          >
            <button type="button" onClick={() => model.filterFleetBy({ sort: key, descending: key === sort && !descending })}>
              {title}
              <span class="sort-mark" aria-hidden="true">
                {key === sort ? (descending ? '▼' : '▲') : ''}
              </span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

function Empty({ model }: { readonly model: Model }): VNode {
  if (model.fleet.fleet === undefined) return <p class="empty">Waiting for the first answer of the server …</p>;
  if (isEveryNode(model.fleet)) return <p class="empty">The fleet has no node yet.</p>;
  return (
    <p class="empty">
      No node passes the filter.{' '}
      <button type="button" onClick={() => model.clearFilter()}>
        Clear the filter
      </button>
    </p>
  );
}

function isEveryNode({ filter }: FleetModel): boolean {
  return filter.text.trim() === everyNode.text && filter.states.length === 0 && !filter.trouble;
}
