import { Component, createRef, type VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { isEmpty } from '../model/pod-filter.ts';
import { type SortKey, sortKeys } from '../model/pod-order.ts';
import { rowWindow, scrollTo } from '../model/row-window.ts';
import { tableId } from './keys.ts';
import { PodRow } from './pod-row.tsx';

export interface PodTableProps {
  readonly model: Model;
  readonly isNarrow: boolean;
}

const headHeight = 36;

/**
 * The table of pods. Only the rows that can be seen are there, however many pods there are. That makes it a grid of ARIA, with
 * one tab stop and an active row, and no table of HTML: the linter's rules for those are off here.
 */
export class PodTable extends Component<PodTableProps> {
  readonly #grid = createRef<HTMLDivElement>();

  override componentDidMount(): void {
    // Its height is not known before it is there.
    this.setState({});
  }

  override render({ model, isNarrow }: PodTableProps): VNode {
    const { shown } = model.rows;
    const grid = this.#grid.current;
    const rowHeight = rowHeightOf(isNarrow);
    const { start, end } = rowWindow(grid?.scrollTop ?? 0, grid?.clientHeight ?? 0, rowHeight, shown.length);
    const activeIndex = model.activeIndex();
    const isActiveDrawn = activeIndex >= start && activeIndex < end;
    return (
      <div
        ref={this.#grid}
        id={tableId}
        class="pod-table"
        role="grid"
        tabIndex={0}
        aria-label="Pods"
        aria-rowcount={shown.length + 1}
        aria-colcount={Object.keys(sortKeys).length}
        aria-activedescendant={isActiveDrawn ? `row-${activeIndex}` : undefined}
        aria-busy={model.summary === undefined}
        onScroll={() => this.setState({})}
        onKeyDown={(event) => this.#onKey(event)}
      >
        <Head model={model} />
        <div role="rowgroup" class="rows" style={{ height: `${shown.length * rowHeight}px` }}>
          {shown.slice(start, end).map((row, offset) => (
            <PodRow
              key={(start + offset) % (end - start)}
              row={row}
              index={start + offset}
              top={(start + offset) * rowHeight}
              now={model.now()}
              isActive={row.podUID === model.activeUID}
              isOpen={row.podUID === model.openPod?.key}
              onOpen={() => model.open(row.podUID)}
            />
          ))}
        </div>
        {shown.length === 0 ? <Empty model={model} /> : null}
      </div>
    );
  }

  #onKey(event: KeyboardEvent): void {
    const { model, isNarrow } = this.props;
    if (event.target !== event.currentTarget) return;
    const grid = this.#grid.current;
    const page = Math.max(1, Math.floor((grid?.clientHeight ?? 0) / rowHeightOf(isNarrow)) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.MAX_SAFE_INTEGER,
    };
    const step = steps[event.key];
    if (step !== undefined) this.#moveTo(model.moveActive(step));
    else if (event.key === 'Enter' && model.activeUID !== undefined) model.open(model.activeUID);
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

/** As the style sheet has it. */
function rowHeightOf(isNarrow: boolean): number {
  return isNarrow ? 60 : 34;
}

function Head({ model }: { readonly model: Model }): VNode {
  const { key: sorted, descending } = model.rows.order;
  const columns = Object.entries(sortKeys) as [SortKey, string][];
  return (
    <div role="rowgroup" class="head">
      <div role="row" class="pod-row" aria-rowindex={1}>
        {columns.map(([key, title]) => (
          <div
            key={key}
            role="columnheader"
            class={`cell-${key}`}
            aria-sort={key === sorted ? (descending ? 'descending' : 'ascending') : 'none'}
          >
            <button type="button" onClick={() => model.toggleSort(key)}>
              {title}
              <span class="sort-mark" aria-hidden="true">
                {key === sorted ? (descending ? '▼' : '▲') : ''}
              </span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

function Empty({ model }: { readonly model: Model }): VNode {
  if (model.summary === undefined) return <p class="empty">Waiting for the first answer of the server …</p>;
  if (isEmpty(model.rows.filter)) return <p class="empty">There is no pod yet.</p>;
  return (
    <p class="empty">
      No pod passes the filter.{' '}
      <button type="button" onClick={() => model.clearFilter()}>
        Clear the filter
      </button>
    </p>
  );
}
