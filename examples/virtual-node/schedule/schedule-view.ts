import { ms, type Paint } from '../render.ts';
import type { DemoNode } from './demo-nodes.ts';
import type { Load } from './placements.ts';

/** Everything the view shows, at one moment. */
export interface ScheduleSnapshot {
  readonly stage: 'running' | 'emptying' | 'done';
  readonly elapsedMs: number;
  readonly nodes: readonly (DemoNode & { readonly load: Load })[];
  /** Pods without a node, and why the first of them waits, as far as the scheduler has said. */
  readonly waiting: number;
  readonly reason: string | undefined;
  readonly created: number;
  readonly placed: number;
  readonly gone: number;
  readonly medianWaitMs: number | undefined;
}

const barWidth = 20;

/** The live view: one line a node, no longer than `columns`. */
export function renderScheduleView(snapshot: ScheduleSnapshot, columns: number, paint: Paint): string {
  const rows = snapshot.nodes.map(({ name, zone, has, load }) => {
    const [cpu, memory] = [share(load.milliCPU, has.milliCPU), share(load.memoryMiB, has.memoryMiB)];
    const cores = `${(load.milliCPU / 1000).toFixed(1)} of ${has.milliCPU / 1000} CPU`;
    const text = `${name}  ${zone}  cpu ${bar(cpu)} memory ${bar(memory)} ${cores.padStart(15)}  ${load.pods} pods`;
    const isFull = Math.max(cpu, memory) > 0.9;
    return paint(isFull ? 'red' : Math.max(cpu, memory) > 0.6 ? 'yellow' : 'green', text.slice(0, columns));
  });
  const { waiting, reason } = snapshot;
  const why = waiting === 0 ? '' : `${waiting} without a node${reason === undefined ? '' : `: ${reason}`}`;
  return [paint('bold', renderScheduleLine(snapshot).slice(0, columns)), ...rows, paint('dim', why.slice(0, columns))].join('\n');
}

/** The view as one line. */
export function renderScheduleLine(snapshot: ScheduleSnapshot): string {
  const { elapsedMs, stage, created, placed, waiting, gone, medianWaitMs, nodes } = snapshot;
  return [
    `${(elapsedMs / 1000).toFixed(0).padStart(3)} s${stage === 'emptying' ? ' emptying' : ''}`,
    `created ${created}`,
    `placed ${placed} (${ms(medianWaitMs)} after creation)`,
    `waiting ${waiting}`,
    `gone ${gone}`,
    `cpu ${nodes.map(({ has, load }) => `${Math.round(share(load.milliCPU, has.milliCPU) * 100)} %`).join(', ')}`,
  ].join(' | ');
}

function share(used: number, total: number): number {
  return total === 0 ? 0 : used / total;
}

function bar(part: number): string {
  const full = Math.min(barWidth, Math.round(part * barWidth));
  return '█'.repeat(full) + '░'.repeat(barWidth - full);
}
