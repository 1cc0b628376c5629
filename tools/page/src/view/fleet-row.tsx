import type { VNode } from 'preact';
import { problemText } from '../../../../src/base/problem.ts';
import type { DebugFleetNodeRow } from '../../../../src/observe/debug/debug-fleet-api.ts';
import { age, isoTime } from '../text/format.ts';
import { toneOfNode } from '../text/node-words.ts';
import { Sign } from './trouble.tsx';

export interface FleetRowProps {
  /** Undefined for one that was not read yet. */
  readonly row: DebugFleetNodeRow | undefined;
  readonly index: number;
  /** Where the row is, in pixels from the first one. */
  readonly top: number;
  readonly now: number;
  readonly isActive: boolean;
  readonly openName: string | undefined;
  readonly onOpen: () => void;
}

export function FleetRow({ row, index, top, now, isActive, openName, onOpen }: FleetRowProps): VNode {
  const isOpen = row !== undefined && row.nodeName === openName;
  const why = row?.problem === undefined ? row?.why : problemText(row.problem, now);
  const isBad = row !== undefined && (row.problem !== undefined || toneOfNode(row.state) === 'bad');
  return (
    <div
      role="row"
      id={`row-${index}`}
      class={`pod-row fleet-row${isActive ? ' active' : ''}${isOpen ? ' open' : ''}${isBad ? ' in-trouble' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      onClick={onOpen}
    >
      <div role="gridcell" class="cell-name" title={row?.nodeName}>
        {isBad ? <Sign /> : null}
        <span class="pod-name">{row?.nodeName ?? '…'}</span>
        {row?.isMoving ? <span class="tag">moving</span> : null}
      </div>
      <div role="gridcell" class="cell-why cell-trouble" title={why}>
        {why}
      </div>
      <div role="gridcell" class="cell-state">
        {row === undefined ? null : <span class={`pill tone-${toneOfNode(row.state)}`}>{row.state}</span>}
      </div>
      <div role="gridcell" class="cell-owner" title={row?.owner}>
        {row === undefined ? '' : (row.owner ?? 'nobody')}
      </div>
      <div role="gridcell" class="cell-shard">
        {row === undefined || row.shard < 0 ? '' : row.shard}
      </div>
      <div role="gridcell" class="cell-since">
        {row?.since === undefined ? '–' : <time dateTime={isoTime(row.since)}>{age(row.since, now)}</time>}
      </div>
    </div>
  );
}
