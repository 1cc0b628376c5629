import type { VNode } from 'preact';
import { problemText } from '../../../../src/base/problem.ts';
import type { DebugPodRow } from '../../../../src/observe/debug/debug-api.ts';
import { underWayText } from '../../../../src/observe/debug/debug-notes.ts';
import { age, isoTime } from '../text/format.ts';
import { SyncPill } from './sync-pill.tsx';
import { Sign } from './trouble.tsx';

export interface PodRowProps {
  readonly row: DebugPodRow;
  readonly index: number;
  /** Where the row is, in pixels from the first one. */
  readonly top: number;
  readonly now: number;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

export function PodRow({ row, index, top, now, isActive, isOpen, onOpen }: PodRowProps): VNode {
  const { namespace, name, phase, ready, restarts, isStatic, isDeleting, changedAt, problem, underWay } = row;
  const trouble = problem ? problemText(problem, now) : underWay && underWayText(underWay, now);
  return (
    <div
      role="row"
      id={`row-${index}`}
      class={`pod-row${isActive ? ' active' : ''}${isOpen ? ' open' : ''}${problem ? ' in-trouble' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      onClick={onOpen}
    >
      <div role="gridcell" class="cell-name" title={`${namespace}/${name}`}>
        {problem === undefined ? null : <Sign />}
        <span class="pod-name">
          <span class="muted">{namespace}/</span>
          {name}
        </span>
        {isStatic ? <span class="tag">static</span> : null}
        {isDeleting ? <span class="tag">deleting</span> : null}
      </div>
      <div role="gridcell" class="cell-trouble" title={trouble}>
        {trouble}
      </div>
      <div role="gridcell" class="cell-phase">
        {phase ?? '–'}
      </div>
      <div role="gridcell" class={ready && !trouble ? 'cell-ready is-ready' : 'cell-ready'}>
        {ready ? 'ready' : 'not ready'}
      </div>
      <div role="gridcell" class="cell-restarts">
        {restarts}
      </div>
      <div role="gridcell" class="cell-sync">
        <SyncPill row={row} />
      </div>
      <div role="gridcell" class="cell-version">
        {versionOf(row)}
      </div>
      <div role="gridcell" class="cell-changed">
        {changedAt > 0 ? <time dateTime={isoTime(changedAt)}>{age(changedAt, now)}</time> : '–'}
      </div>
    </div>
  );
}

/** `5` when the apiserver has version 5, `3 → 5` when it has version 3 of it, `none → 1` when it has none, `–` without a status. */
export function versionOf({ version, acknowledgedVersion }: DebugPodRow): string {
  if (version === 0) return '–';
  if (acknowledgedVersion >= version) return String(version);
  return `${acknowledgedVersion > 0 ? acknowledgedVersion : 'none'} → ${version}`;
}
