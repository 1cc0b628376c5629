import type { VNode } from 'preact';
import type { DebugSummary } from '../../../../src/observe/debug/debug-api.ts';
import { troubleWords } from '../../../../src/observe/debug/debug-notes.ts';
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

type NamedNumber = readonly [name: string, value: string, title: string];

function numbersOf(summary: DebugSummary | undefined): readonly NamedNumber[] {
  if (summary === undefined) return ['In trouble', 'Pods', 'In sync', 'Requests now'].map((name) => [name, '–', '']);
  const { state, pods, bySync, inFlight, channelDepth, channelCapacity, channelDropped = 0, oldestUnsentMs } = summary;
  const oldest = oldestUnsentMs === undefined ? 'none' : duration(oldestUnsentMs);
  const all: NamedNumber[] = [
    ['In trouble', troubleWords(summary), 'All that is wrong'],
    ['Pods', count(pods), 'All pods that are known'],
  ];
  if (state === 'none') return all;
  const numbers: NamedNumber[] = [
    ...all,
    ['In sync', count(bySync['in-sync'] ?? 0), 'Pods whose newest status the apiserver has'],
    ['Requests now', count(inFlight), 'Pods of which a request is under way'],
    ['Hints waiting', `${count(channelDepth)} / ${count(channelCapacity)}`, 'Pods in the channel, and how many fit in'],
    ['Oldest unsent', oldest, 'How long the oldest status that the apiserver does not have is waiting'],
  ];
  if (channelDropped > 0) numbers.push(['Hints dropped', count(channelDropped), 'The channel was full; a scan finds their pods']);
  return numbers;
}
