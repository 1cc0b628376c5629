import type { WirePod } from 'pod-status-manager';
import type { Paint, Style } from '../render.ts';
import { isReady, podWords, restartsOf } from './pod-words.ts';

/** Everything the view shows, at one moment. */
export interface AgentSnapshot {
  readonly nodeName: string;
  readonly seed: number;
  readonly stage: 'running' | 'ending' | 'done';
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly pods: readonly WirePod[];
  readonly created: number;
  readonly deleted: number;
  /** Containers that were started, and those that have ended. */
  readonly started: number;
  readonly ended: number;
  /** Pulls of images that were begun. */
  readonly pulls: number;
  /** Pods that nothing is left of. */
  readonly gone: number;
}

const rowsShown = 20;
const bad = /Err|BackOff|Error|OOM/;

/** The live view: one line a pod, no longer than `columns`. */
export function renderAgentView(snapshot: AgentSnapshot, columns: number, paint: Paint): string {
  const { pods } = snapshot;
  const shown = pods
    .toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), 'en', { numeric: true }))
    .slice(0, rowsShown);
  const width = Math.max(10, ...shown.map((pod) => nameOf(pod).length));
  const rows = shown.map((pod) => {
    const words = podWords(pod);
    const ready = isReady(pod) ? 'ready' : '';
    const text = `${nameOf(pod).padEnd(width)}  ${words.padEnd(18)}  ${ready.padEnd(5)}  ${restartsOf(pod)} restarts`;
    return paint(styleOf(words), text.slice(0, columns));
  });
  const more = pods.length > shown.length ? [paint('dim', `and ${pods.length - shown.length} more`)] : [];
  return [paint('bold', renderAgentLine(snapshot).slice(0, columns)), ...rows, ...more].join('\n');
}

/** The view as one line. */
export function renderAgentLine({ elapsedMs, stage, pods, created, gone, started, ended, pulls }: AgentSnapshot): string {
  const counts = new Map<string, number>();
  for (const pod of pods) counts.set(podWords(pod), (counts.get(podWords(pod)) ?? 0) + 1);
  const words = [...counts].sort(([, one], [, other]) => other - one).map(([word, count]) => `${count} ${word}`);
  return [
    `${(elapsedMs / 1000).toFixed(0).padStart(3)} s${stage === 'ending' ? ' ending' : ''}`,
    `pods ${pods.length}${words.length === 0 ? '' : ` (${words.join(', ')})`}`,
    `created ${created}`,
    `gone ${gone}`,
    `pulls ${pulls}`,
    `containers started ${started}, ended ${ended}`,
  ].join(' | ');
}

function nameOf({ metadata }: WirePod): string {
  return metadata?.name ?? '';
}

function styleOf(words: string): Style {
  if (bad.test(words)) return 'red';
  if (words === 'Running') return 'green';
  if (words === 'Completed') return 'cyan';
  return words === 'Terminating' ? 'dim' : 'yellow';
}
