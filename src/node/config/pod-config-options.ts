import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { integerOption, oneOfOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import { type ConfigMode, mostUpdatesOfAList } from './notifications.ts';
import type { MetadataOf } from './pod-changes.ts';

/** How changes are told, and to whom. Every option may be left out. */
export interface PodConfigOptions {
  /** How changes are told. Default `Incremental`, as the kubelet's. */
  readonly mode?: ConfigMode;
  /** The most updates that wait for the consumer, at least 5. Default 50. */
  readonly capacity?: number;
  /**
   * The metadata of a known pod after a change. `latest` (the default): those of the newest list, so that a status manager
   * behind the config knows the resourceVersion that goes with the status. `firstSeen`: as in the kubelet, the
   * resourceVersion, owner references and finalizers of the first sight. With both, the name, the namespace and the
   * annotations `kubernetes.io/config.*` stay.
   */
  readonly metadata?: MetadataOf;
  /** Gets a warning for each pod that is left out because another one of its list has the same name or uid. */
  readonly eventRecorder?: EventRecorder;
  /** Gets the uid of each pod of each list of the source `api`: the start-up observer. What it throws is logged. */
  readonly podsObserved?: (podUID: string) => void;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export type CheckedPodConfigOptions = Required<Omit<PodConfigOptions, 'podsObserved' | 'logger'>> &
  Pick<PodConfigOptions, 'podsObserved'> & { readonly logger: Logger };

const knownOptions = ['mode', 'capacity', 'metadata', 'eventRecorder', 'podsObserved', 'clock', 'logger'];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedPodConfigOptions(options: PodConfigOptions): CheckedPodConfigOptions {
  requireKnownOptions('options', options, knownOptions);
  const { mode = 'Incremental', capacity = 50, metadata = 'latest', eventRecorder = noEvents, podsObserved } = options;
  const { clock = systemClock, logger } = options;
  requireMethods('eventRecorder', eventRecorder, ['event']);
  if (podsObserved !== undefined) optionOfType('podsObserved', podsObserved, 'function');
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    mode: oneOfOption('mode', mode, ['Incremental', 'SnapshotAndUpdates', 'Snapshot']),
    capacity: integerOption('capacity', capacity, mostUpdatesOfAList),
    metadata: oneOfOption('metadata', metadata, ['firstSeen', 'latest']),
    eventRecorder: safeEventRecorder(eventRecorder),
    ...(podsObserved !== undefined && { podsObserved }),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
}
