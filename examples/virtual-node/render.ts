import { podsAlive, type Snapshot, totalRequests } from './snapshot.ts';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';
/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

export const phases = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;
const phaseStyles: Readonly<Record<string, Style>> = { Pending: 'yellow', Running: 'green', Succeeded: 'cyan', Failed: 'red' };
const labelWidth = 10;

interface Piece {
  readonly text: string;
  readonly style?: Style;
}

/** The live view. No line is longer than `columns`. */
export function renderView(snapshot: Snapshot, columns: number, paint: Paint): string {
  const { crashes, created, deleted, podsByPhase, podsDeleting, readinessFlips, recreated, requests } = snapshot;
  const byPhase = phases.map((phase): Piece => {
    const style = phaseStyles[phase];
    return { text: `${phase} ${podsByPhase[phase] ?? 0}`, ...(style !== undefined && { style }) };
  });
  const rows: [string, Piece[]][] = [
    ['pods', [{ text: String(podsAlive(snapshot)), style: 'bold' }, ...byPhase, { text: `deleting ${podsDeleting}` }]],
    [
      'lives',
      texts(
        `created ${created}`,
        `recreated ${recreated}`,
        `crashes ${crashes}`,
        `probes ${readinessFlips}`,
        `deleted ${deleted}`,
      ),
    ],
    ['versions', [{ text: `${snapshot.versions} set`, style: 'bold' }, { text: `of ${snapshot.told} told` }]],
    [
      'requests',
      [
        { text: String(totalRequests(snapshot)), style: 'bold' },
        { text: `${requestsAChange(snapshot)} a change`, style: 'bold' },
        ...texts(`patch ${requests.patch}`, `get ${requests.get}`, `delete ${requests.delete}`),
        { text: `errors ${snapshot.syncErrors}`, ...(snapshot.syncErrors > 0 && { style: 'red' }) },
      ],
    ],
    [
      'delay',
      [
        { text: `p50 ${ms(snapshot.p50Ms)}`, style: 'bold' },
        { text: `p99 ${ms(snapshot.p99Ms)}`, style: 'bold' },
        { text: 'from set to synced' },
      ],
    ],
  ];
  const title = flow(
    '',
    [{ text: 'pod-status-manager', style: 'bold' }, { text: snapshot.server }, { text: `seed ${snapshot.seed}` }],
    columns,
    paint,
  );
  return [
    ...title,
    ...rows.flatMap(([label, pieces]) => flow(label, pieces, columns, paint)),
    progressBar(snapshot, columns, paint),
  ].join('\n');
}

/** The view as one line, for output that is no terminal. */
export function renderLine(snapshot: Snapshot): string {
  const { elapsedMs, podsByPhase, podsDeleting, stage, syncErrors, versions } = snapshot;
  const byPhase = phases.map((phase) => `${podsByPhase[phase] ?? 0} ${phase}`).join(', ');
  return [
    `${(elapsedMs / 1000).toFixed(0).padStart(3)} s${stage === 'settling' ? ' settling' : ''}`,
    `pods ${podsAlive(snapshot)} (${byPhase}; ${podsDeleting} deleting)`,
    `versions ${versions}`,
    `requests ${totalRequests(snapshot)} (${requestsAChange(snapshot)} a change)`,
    `delay p50 ${ms(snapshot.p50Ms)} p99 ${ms(snapshot.p99Ms)}`,
    ...(syncErrors > 0 ? [`errors ${syncErrors}`] : []),
  ].join(' | ');
}

export function requestsAChange(snapshot: Snapshot): string {
  return snapshot.versions === 0 ? '-' : (totalRequests(snapshot) / snapshot.versions).toFixed(2);
}

export function ms(value: number | undefined): string {
  if (value === undefined) return '-';
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

export function progressBar({ elapsedMs, totalMs, stage }: Snapshot, columns: number, paint: Paint): string {
  const share = Math.min(1, elapsedMs / totalMs);
  const text = stage === 'running' ? `${(elapsedMs / 1000).toFixed(1)} of ${totalMs / 1000} s` : 'settling';
  const width = Math.min(50, columns - text.length - 3);
  if (width < 5) return text.slice(0, columns);
  const full = Math.round(share * width);
  return `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(width - full))}  ${text}`;
}

function texts(...list: string[]): Piece[] {
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
