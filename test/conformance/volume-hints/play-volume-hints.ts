import { EventInterest } from '../../../src/scheduler/queue/event-interest.ts';
import { frameworkOf } from '../filter-score/cluster.ts';
import type { RecordedAnswers, VolumeHintsCase } from './volume-hints-case.ts';

const volumePlugins = ['VolumeBinding', 'VolumeZone', 'NodeVolumeLimits', 'VolumeRestrictions'];

/** Asks our plugins for volumes, as the queue would. */
export function playVolumeHints({ pod, events }: VolumeHintsCase): readonly RecordedAnswers[] {
  const { profile } = frameworkOf({ nodes: [] });
  const interest = new EventInterest([profile]);
  return events.map(({ resource, action, before, after }) => {
    const asked = [...interest.of(profile.schedulerName, { resource, action, label: '' })];
    const answers = asked
      .filter(([plugin]) => volumePlugins.includes(plugin))
      .map(([plugin, hints]) => [plugin, hints.some((hint) => hint(pod, before, after) !== 'Skip') ? 'Queue' : 'Skip'] as const);
    return Object.fromEntries(answers);
  });
}
