import { Component, createRef, type VNode } from 'preact';
import { rowWindow, scrollTo } from '../model/row-window.ts';
import { tableId } from './keys.ts';

/** Where a row stands. */
export interface RowPlace {
  /** Of the element: those of rows that are scrolled away are used again. */
  readonly key: number;
  readonly index: number;
  /** In pixels from the first row. */
  readonly top: number;
  readonly isActive: boolean;
}

export interface RowTableProps {
  readonly label: string;
  readonly isNarrow: boolean;
  /** True while nothing was read yet. */
  readonly isBusy: boolean;
  /** How many rows there are. */
  readonly size: number;
  /** The row that the keyboard is on; -1 for none. */
  readonly active: number;
  /** The same as it is now: a key may come before the next drawing. */
  readonly activeNow: () => number;
  readonly columns: readonly (readonly [key: string, cell: string, title: string])[];
  readonly sorted: string;
  readonly isDescending: boolean;
  /** A class of the rows beside that of all. */
  readonly rowClass?: string;
  /** In place of the rows where there are none. */
  readonly empty: VNode;
  readonly row: (place: RowPlace) => VNode;
  readonly onSort: (key: string) => void;
  readonly onOpen: (index: number) => void;
  /** Moves the keyboard's row. Returns where it is then; -1 where there is no row. */
  readonly onMove: (by: number) => number;
  /** Told which rows are drawn. */
  readonly onLook?: (start: number, end: number) => void;
}

const headHeight = 36;

/**
 * A table of pods or nodes. Only the rows that can be seen are there, however many there are. That makes it a grid of ARIA, with
 * one tab stop and an active row, and no table of HTML: the linter's rules for those are off here.
 */
export class RowTable extends Component<RowTableProps> {
  readonly #grid = createRef<HTMLDivElement>();

  override componentDidMount(): void {
    // its height is not known before it is there
    this.setState({});
  }

  override componentDidUpdate(): void {
    const { start, end } = this.#window();
    this.props.onLook?.(start, end);
  }

  override render(props: RowTableProps): VNode {
    const { label, isNarrow, isBusy, size, active, columns, empty, row } = props;
    const { start, end } = this.#window();
    const rowHeight = rowHeightOf(isNarrow);
    const drawn = Array.from({ length: end - start }, (_, offset) => start + offset);
    return (
      <div
        ref={this.#grid}
        id={tableId}
        class="pod-table"
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={size + 1}
        aria-colcount={columns.length}
        aria-activedescendant={active >= start && active < end ? `row-${active}` : undefined}
        aria-busy={isBusy}
        onScroll={() => this.setState({})}
        onKeyDown={(event) => this.#onKey(event)}
      >
        <Head {...props} />
        <div role="rowgroup" class="rows" style={{ height: `${size * rowHeight}px` }}>
          {drawn.map((index) => row({ key: index % (end - start), index, top: index * rowHeight, isActive: index === active }))}
        </div>
        {size === 0 ? empty : null}
      </div>
    );
  }

  #window(): { start: number; end: number } {
    const { isNarrow, size } = this.props;
    const grid = this.#grid.current;
    return rowWindow(grid?.scrollTop ?? 0, grid?.clientHeight ?? 0, rowHeightOf(isNarrow), size);
  }

  #onKey(event: KeyboardEvent): void {
    const { isNarrow, activeNow, onMove, onOpen } = this.props;
    if (event.target !== event.currentTarget) return;
    const active = activeNow();
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
    if (step !== undefined) this.#moveTo(onMove(step));
    else if (event.key === 'Enter' && active >= 0) onOpen(active);
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

function Head({ columns, sorted, isDescending, rowClass, onSort }: RowTableProps): VNode {
  return (
    <div role="rowgroup" class="head">
      <div role="row" class={rowClass === undefined ? 'pod-row' : `pod-row ${rowClass}`} aria-rowindex={1}>
        {columns.map(([key, cell, title]) => (
          <div
            key={key}
            role="columnheader"
            class={`cell-${cell}`}
            aria-sort={key === sorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
          >
            <button type="button" onClick={() => onSort(key)}>
              {title}
              <span class="sort-mark" aria-hidden="true">
                {key === sorted ? (isDescending ? '▼' : '▲') : ''}
              </span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

export interface EmptyTableProps {
  readonly isBusy: boolean;
  readonly isFiltered: boolean;
  /** Where there is none, also without a filter. */
  readonly none: string;
  /** Where none passes the filter. */
  readonly noMatch: string;
  readonly onClear: () => void;
}

export function EmptyTable({ isBusy, isFiltered, none, noMatch, onClear }: EmptyTableProps): VNode {
  if (isBusy) return <p class="empty">Waiting for the first answer of the server …</p>;
  if (!isFiltered) return <p class="empty">{none}</p>;
  return (
    <p class="empty">
      {noMatch}{' '}
      <button type="button" onClick={onClear}>
        Clear the filter
      </button>
    </p>
  );
}
