const gap = '  ';
/** A longer cell is cut, but in the last column: every other row gets spaces for it. */
const longestCell = 300;

/** Rows of cells, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) =>
    row.map((cell, index) => {
      const text = printable(cell) || '-';
      return text.length > longestCell && index < row.length - 1 ? `${text.slice(0, longestCell)}…` : text;
    }),
  );
  const widths = clean[0]?.map((_, index) => clean.reduce((widest, row) => Math.max(widest, row[index]?.length ?? 0), 0)) ?? [];
  return clean
    .map((row) =>
      row
        .map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

/** The same text without characters that a terminal obeys: a line break becomes a space, others are left out. */
export function printable(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '');
}

/** `5 ms`, `1.5 s`, `42 s`, `7 min`, `3 h`. A negative time counts as none. */
export function durationText(ms: number): string {
  if (ms < 1) return '0 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

/** `: in-sync 3, pending 1`, the largest first; empty without counts. */
export function countsText(counts: Readonly<Partial<Record<string, number>>>): string {
  const parts = Object.entries(counts).sort(([, a = 0], [, b = 0]) => b - a);
  return parts.length === 0 ? '' : `: ${parts.map(([name, count]) => `${name} ${count}`).join(', ')}`;
}

/** The time in ISO form; undefined for one that no date can hold. */
export function isoTime(ms: number): string | undefined {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** The time of day in UTC, to the millisecond, with the date before it where it is not that of `now`. */
export function timeText(at: number, now: number): string {
  const [date, time] = isoTime(at)?.split('T') ?? [];
  if (date === undefined) return String(at);
  return date === isoTime(now)?.split('T')[0] ? `${time}` : `${date}T${time}`;
}
