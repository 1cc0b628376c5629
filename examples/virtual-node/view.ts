export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';
/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

export interface Piece {
  readonly text: string;
  readonly style?: Style;
}

/** A label, and what stands after it; a picture is for the eye, and on a terminal alone. */
export type Row = readonly [label: string, pieces: readonly Piece[], isPicture?: true];

/** The rows without pictures, as texts. */
export function textRows(rows: readonly Row[]): (readonly [label: string, text: string])[] {
  return rows.flatMap(([label, pieces, isPicture]) => (isPicture ? [] : [[label, pieces.map(({ text }) => text).join(', ')]]));
}

/** Everything the view of a run shows, at one moment. */
export interface Picture {
  /** What it is, where, and its seed. */
  readonly title: readonly string[];
  /** `settling`: nothing new begins, and what was begun ends. */
  readonly stage: 'starting' | 'running' | 'settling' | 'done';
  readonly elapsedMs: number;
  /** Undefined: the run goes on until Ctrl-C. */
  readonly totalMs: number | undefined;
  /** Counts and rates. */
  readonly rows: readonly Row[];
  /** Undefined: nothing goes wrong on purpose. Otherwise what is wrong now. */
  readonly wrong: readonly string[] | undefined;
  /** What the library says of itself, and its newest warnings. */
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  /** What has happened, newest last. */
  readonly events: readonly string[];
}

const labelWidth = 10;
const shown = { notes: 4, warnings: 3, events: 5 };

/** The live view. No line is longer than `columns`. */
export function renderView(picture: Picture, columns: number, paint: Paint): string {
  const { title, rows, wrong, notes, warnings, events } = picture;
  const list = (label: string, style: Style, lines: readonly string[]): string[] =>
    lines.flatMap((text, index) => flow(index === 0 ? label : ' ', [{ text, style }], columns, paint));
  const more = notes.length > shown.notes ? [`and ${notes.length - shown.notes} more`] : [];
  return [
    ...flow('', [{ text: 'pod-status-manager', style: 'bold' }, ...texts(title)], columns, paint),
    ...rows.flatMap(([label, pieces]) => flow(label, pieces, columns, paint)),
    ...(wrong === undefined ? [] : list('wrong', 'yellow', wrong.length === 0 ? ['nothing, for now'] : wrong)),
    ...list('notes', 'red', [...notes.slice(0, shown.notes), ...more]),
    ...list('warnings', 'red', warnings.slice(-shown.warnings)),
    ...list('newest', 'dim', events.slice(-shown.events)),
    progressBar(picture, columns, paint),
  ].join('\n');
}

/** The view for output that is no terminal: one line, and one more for each of what is wrong and what the library says of it. */
export function renderLines({ elapsedMs, stage, rows, wrong = [], notes, warnings }: Picture): string {
  const counts = textRows(rows).map((row) => row.join(' '));
  return [
    [`${(elapsedMs / 1000).toFixed(0).padStart(3)} s${stage === 'running' ? '' : ` ${stage}`}`, ...counts].join(' | '),
    ...wrong.map((text) => `      wrong: ${text}`),
    ...notes.slice(0, shown.notes).map((text) => `      note: ${text}`),
    ...(wrong.length > 0 ? warnings.slice(-1).map((text) => `      warning: ${text}`) : []),
  ].join('\n');
}

export function ms(value: number | undefined): string {
  if (value === undefined) return '-';
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

export function progressBar({ elapsedMs, totalMs, stage }: Picture, columns: number, paint: Paint): string {
  const seconds = (elapsedMs / 1000).toFixed(1);
  if (stage === 'running' && totalMs === undefined) return paint('green', `${seconds} s, until Ctrl-C`.slice(0, columns));
  const share = stage === 'starting' ? 0 : Math.min(1, elapsedMs / (totalMs ?? elapsedMs));
  const text = stage === 'running' ? `${seconds} of ${(totalMs ?? 0) / 1000} s` : stage;
  const width = Math.min(50, columns - text.length - 3);
  if (width < 5) return text.slice(0, columns);
  const full = Math.round(share * width);
  return `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(width - full))}  ${text}`;
}

export function texts(list: readonly string[]): Piece[] {
  return list.map((text) => ({ text }));
}

/** Pieces in a row after a label, on as many lines as they need; a piece longer than a line is cut. */
function flow(label: string, pieces: readonly Piece[], columns: number, paint: Paint): string[] {
  const indent = label === '' ? 0 : Math.min(labelWidth, Math.floor(columns / 3));
  const room = Math.max(1, columns - indent);
  const lines: string[] = [];
  let used = 0;
  for (const { text, style } of pieces) {
    const cut = text.slice(0, room);
    const painted = style === undefined ? cut : paint(style, cut);
    const last = lines.length - 1;
    if (last >= 0 && used + 2 + cut.length <= room) {
      lines[last] += `  ${painted}`;
      used += 2 + cut.length;
    } else {
      lines.push(painted);
      used = cut.length;
    }
  }
  return lines.map(
    (line, index) => paint('dim', (index === 0 ? label : '').slice(0, Math.max(0, indent - 1)).padEnd(indent)) + line,
  );
}
