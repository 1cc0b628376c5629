import type { VNode } from 'preact';
import type { DebugSummary } from '../../../src/debug/debug-api.ts';
import type { Model } from '../model/model.ts';
import { count, duration } from '../text/format.ts';

/** The numbers of the manager as a whole. */
export function Summary({ model }: { readonly model: Model }): VNode {
  const { summary } = model;
  return (
    <dl class="summary" aria-label="The manager">
      {numbersOf(summary).map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function numbersOf(summary: DebugSummary | undefined): readonly (readonly [name: string, value: string, title: string])[] {
  const { pods, bySync = {}, inFlight, channelDepth, channelCapacity, oldestUnsentMs } = summary ?? {};
  const shown = (value: number | undefined): string => (value === undefined ? '–' : count(value));
  return [
    ['Pods', shown(pods), 'Pods that have a status'],
    ['In sync', summary === undefined ? '–' : count(bySync['in-sync'] ?? 0), 'Pods whose newest status the apiserver has'],
    ['Requests now', shown(inFlight), 'Pods of which a request is under way'],
    [
      'Hints waiting',
      channelCapacity === undefined ? '–' : `${shown(channelDepth)} / ${count(channelCapacity)}`,
      'Pods in the channel',
    ],
    [
      'Oldest unsent',
      summary === undefined ? '–' : oldestUnsentMs === undefined ? 'none' : duration(oldestUnsentMs),
      'How long the oldest status that the apiserver does not have is waiting',
    ],
  ];
}
