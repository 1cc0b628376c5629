import type { VNode } from 'preact';
import type { DebugPodRow } from '../../../../src/observe/debug/debug-api.ts';
import { meaningOf, type Tone, toneOf } from '../text/sync-words.ts';

/** How a row's state is coloured: nothing is green of a pod that is in trouble, or waits for a call. */
export function lookOf({ sync, problem, underWay }: Pick<DebugPodRow, 'sync' | 'problem' | 'underWay'>): Tone {
  const tone = toneOf(sync);
  return tone === 'good' && (problem || underWay) ? 'idle' : tone;
}

/** Where a status stands. The colour only repeats what the text and the sign before it say. */
export function SyncPill({ row }: { readonly row: DebugPodRow }): VNode {
  const { sync, attempt } = row;
  return (
    <span class={`pill tone-${lookOf(row)}`} title={meaningOf(sync)}>
      {sync}
      {attempt > 0 ? <b title="failures in a row"> ×{attempt}</b> : null}
    </span>
  );
}
