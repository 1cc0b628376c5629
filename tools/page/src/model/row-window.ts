/** Rows beyond what can be seen, so that scrolling does not show gaps. */
const spareRows = 8;

export interface RowWindow {
  /** The first row that is drawn, and the one after the last. */
  readonly start: number;
  readonly end: number;
}

/** Which rows of equal height are drawn: those that can be seen, and a few around them. */
export function rowWindow(scrollTop: number, viewHeight: number, rowHeight: number, rowCount: number): RowWindow {
  const first = Math.floor(scrollTop / rowHeight) - spareRows;
  const last = Math.ceil((scrollTop + viewHeight) / rowHeight) + spareRows;
  const end = Math.max(0, Math.min(rowCount, last));
  return { start: Math.min(Math.max(0, first), end), end };
}

/** Where to scroll so that a row can be seen whole below a head of `headHeight`; undefined when it can be seen already. */
export function scrollTo(
  index: number,
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  headHeight: number,
): number | undefined {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  const lowest = top + rowHeight + headHeight - viewHeight;
  return lowest > scrollTop ? lowest : undefined;
}
