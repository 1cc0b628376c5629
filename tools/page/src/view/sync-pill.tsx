import type { VNode } from 'preact';
import { meaningOf, type Sync, toneOf } from '../text/sync-words.ts';

export interface SyncPillProps {
  readonly sync: Sync;
  readonly failures: number;
}

/** Where a status stands. The colour only repeats what the text says. */
export function SyncPill({ sync, failures }: SyncPillProps): VNode {
  return (
    <span class={`pill tone-${toneOf(sync)}`} title={meaningOf(sync)}>
      {sync}
      {failures > 0 ? <b title="failures in a row"> ×{failures}</b> : null}
    </span>
  );
}
