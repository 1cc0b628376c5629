import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { invalidOption } from '../../base/errors.ts';
import { integerOption, longestTimerMs, numberOption, optionOfType } from '../../base/options.ts';
import { isOfContainers, signals } from './thresholds.ts';

/**
 * What goes when the node runs short, under the names of the kubelet's configuration file. Quantities by signal are amounts such as
 * `100Mi`, or shares of the capacity such as `10%`. The signals are memory.available, allocatableMemory.available, nodefs.available,
 * nodefs.inodesFree, imagefs.available, imagefs.inodesFree, containerfs.available, containerfs.inodesFree and pid.available; those of
 * containerfs always are as those of the disk that containers write to.
 */
export interface EvictionSettings {
  /** When pods are evicted at once, by signal. Default: as the kubelet's. */
  readonly evictionHard?: Readonly<Record<string, string>>;
  /** When pods are evicted once a grace period is over, by signal. Each needs one. Default: none. */
  readonly evictionSoft?: Readonly<Record<string, string>>;
  /** How long a threshold of `evictionSoft` has to be met, by signal, in milliseconds. Default: none. */
  readonly evictionSoftGracePeriodMs?: Readonly<Record<string, number>>;
  /** The longest grace period of a pod that goes for a threshold of `evictionSoft`, in seconds. Default 0: it gets one second. */
  readonly evictionMaxPodGracePeriodSeconds?: number;
  /** How much more than the threshold there must be again after pods had to go, by signal. Default: none. */
  readonly evictionMinimumReclaim?: Readonly<Record<string, string>>;
  /** How long the node counts as running short after it was last seen so. Default 300 000. */
  readonly evictionPressureTransitionPeriodMs?: number;
  /** True: a signal that `evictionHard` does not name has the kubelet's default; false: it has no threshold. Default false. */
  readonly mergeDefaultEvictionSettings?: boolean;
  /**
   * True: memory is read once a second between two looks at the node, and a hard threshold of memory that is met counts at once.
   * Default false.
   */
  readonly kernelMemcgNotification?: boolean;
  /** False: limits of ephemeral storage evict no pod, and the node offers none. Default true. */
  readonly localStorageCapacityIsolation?: boolean;

  /** Unused images are removed when the disk is fuller than this, in percent; 100: never. Default 85. */
  readonly imageGCHighThresholdPercent?: number;
  /** So full the disk may be after unused images were removed, in percent. Default 80. */
  readonly imageGCLowThresholdPercent?: number;
  /** An image that has not been unused for so long is kept. Default 120 000. */
  readonly imageMinimumGCAgeMs?: number;
  /**
   * An image that was unused for longer than this is removed, however full the disk is; no image is before the agent has run for
   * that long. More than `imageMinimumGCAgeMs`; 0: never. Default 0.
   */
  readonly imageMaximumGCAgeMs?: number;
}

const defaultHard = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** As the kubelet's. */
export const defaultEvictionSettings: Required<EvictionSettings> = {
  evictionHard: defaultHard,
  evictionSoft: {},
  evictionSoftGracePeriodMs: {},
  evictionMaxPodGracePeriodSeconds: 0,
  evictionMinimumReclaim: {},
  evictionPressureTransitionPeriodMs: 300_000,
  mergeDefaultEvictionSettings: false,
  kernelMemcgNotification: false,
  localStorageCapacityIsolation: true,
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  imageMinimumGCAgeMs: 120_000,
  imageMaximumGCAgeMs: 0,
};

// Behaviour of pkg/kubelet/eviction/helpers.go (ParseThresholdConfig) and of apis/config/validation, v1.36.3.

/** The same settings, with the defaults that are to be merged. Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveEvictionSettings(given: Required<EvictionSettings>): Pick<EvictionSettings, 'evictionHard'> {
  requireThresholds('evictionHard', given.evictionHard);
  requireThresholds('evictionSoft', given.evictionSoft);
  requireReclaims('evictionMinimumReclaim', given.evictionMinimumReclaim);
  requireGracePeriods(given);
  integerOption('evictionMaxPodGracePeriodSeconds', given.evictionMaxPodGracePeriodSeconds, 0);
  numberOption('evictionPressureTransitionPeriodMs', given.evictionPressureTransitionPeriodMs, 0, longestTimerMs);
  for (const name of ['mergeDefaultEvictionSettings', 'kernelMemcgNotification', 'localStorageCapacityIsolation'] as const) {
    optionOfType(name, given[name], 'boolean');
  }
  requireImageSettings(given);
  const { mergeDefaultEvictionSettings, evictionHard } = given;
  return { evictionHard: mergeDefaultEvictionSettings ? { ...defaultHard, ...evictionHard } : evictionHard };
}

function requireImageSettings(settings: Required<EvictionSettings>): void {
  for (const name of ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const) {
    numberOption(name, settings[name], 0, 100);
  }
  for (const name of ['imageMinimumGCAgeMs', 'imageMaximumGCAgeMs'] as const) {
    numberOption(name, settings[name], 0, Number.MAX_SAFE_INTEGER);
  }
  const { imageGCLowThresholdPercent, imageGCHighThresholdPercent, imageMinimumGCAgeMs, imageMaximumGCAgeMs } = settings;
  if (imageGCLowThresholdPercent > imageGCHighThresholdPercent) {
    throw invalidOption('imageGCLowThresholdPercent', 'at most imageGCHighThresholdPercent', imageGCLowThresholdPercent);
  }
  if (imageMaximumGCAgeMs > 0 && imageMaximumGCAgeMs <= imageMinimumGCAgeMs) {
    throw invalidOption(
      'imageMaximumGCAgeMs',
      `0, or more than imageMinimumGCAgeMs (${imageMinimumGCAgeMs})`,
      imageMaximumGCAgeMs,
    );
  }
}

function requireThresholds(name: string, thresholds: Readonly<Record<string, string>>): void {
  for (const [signal, threshold] of bySignal(name, thresholds)) {
    if (isShare(threshold)) continue;
    requireQuantity(
      `${name}.${signal}`,
      threshold,
      (quantity) => quantity !== '0',
      'a share up to "100%", or a quantity above 0',
    );
  }
}

function requireReclaims(name: string, reclaims: Readonly<Record<string, string>>): void {
  for (const [signal, amount] of bySignal(name, reclaims)) {
    if (isShare(amount) && Number(amount.slice(0, -1)) > 0) continue;
    requireQuantity(`${name}.${signal}`, amount, () => true, 'a share above "0%", or a quantity that is not negative');
  }
}

function requireGracePeriods({ evictionSoft, evictionSoftGracePeriodMs: periods }: Required<EvictionSettings>): void {
  for (const [signal, period] of bySignal('evictionSoftGracePeriodMs', periods)) {
    numberOption(`evictionSoftGracePeriodMs.${signal}`, period, 0, Number.MAX_SAFE_INTEGER);
  }
  // what is said of containerfs does not count
  for (const signal of Object.keys(evictionSoft)) {
    if (periods[signal] !== undefined || isOfContainers(signal)) continue;
    throw invalidOption(`evictionSoftGracePeriodMs.${signal}`, 'a number: evictionSoft has this signal', undefined);
  }
}

function bySignal<T>(name: string, values: Readonly<Record<string, T>>): [string, T][] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) throw invalidOption(name, 'an object', values);
  for (const signal of Object.keys(values)) {
    if (!signals.some((known) => known === signal)) throw invalidOption(name, `an object with ${signals.join(', ')}`, signal);
  }
  return Object.entries(values);
}

function isShare(value: unknown): value is string {
  return typeof value === 'string' && /^(?:100|\d{1,2}(?:\.\d+)?)%$/.test(value);
}

function requireQuantity(name: string, value: unknown, isAllowed: (canonical: string) => boolean, rule: string): void {
  try {
    const canonical = typeof value === 'string' ? canonicalQuantity(value) : '-';
    if (!canonical.startsWith('-') && isAllowed(canonical)) return;
  } catch {
    // the same answer as for any other value
  }
  throw invalidOption(name, rule, value);
}
