import type { WirePod } from '../../../src/api/json/types.ts';
import type { JsonMembers } from '../../../src/client/transport/api-answer.ts';
import type { EventAction } from '../../../src/scheduler/framework/plugin.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** What each plugin that wants to know of an event says of it, by the plugin's name. */
export type RecordedAnswers = Readonly<Record<string, 'Queue' | 'Skip'>>;

/** An object of the cluster, before and after a change. */
export interface RecordedVolumeEvent {
  readonly resource: string;
  readonly action: EventAction;
  readonly before?: JsonMembers;
  readonly after?: JsonMembers;
}

/** A recording of whether the plugins for volumes think that changes in the cluster help a pod. */
export interface VolumeHintsCase extends KindCase {
  readonly pod: WirePod;
  readonly events: readonly RecordedVolumeEvent[];
  /** One for each event. */
  readonly out: readonly RecordedAnswers[];
}

/** What is wrong with the case; undefined when it can be played. */
export function volumeHintsCaseProblem(value: unknown): string | undefined {
  const { pod, events, out } = value as Partial<VolumeHintsCase>;
  if (typeof pod !== 'object' || pod === null) return 'a volumeHints case without a pod';
  if (!Array.isArray(events)) return 'a volumeHints case without events';
  if (!Array.isArray(out) || out.length !== events.length) return 'a volumeHints case without an answer for each event';
  return undefined;
}
