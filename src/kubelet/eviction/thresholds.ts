// Behaviour of pkg/kubelet/eviction (api/types.go, helpers.go), v1.36.3.

import { bytesText, canonicalQuantity } from '../../api/quantity/quantity.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import { wholeOf } from '../resize/pod-allocation.ts';
import type { DiskLayout, DiskParts, NodeUsage, Supply } from './usage.ts';

/** What can run short, as the settings of the kubelet name it. */
export type Signal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'containerfs.available'
  | 'containerfs.inodesFree'
  | 'pid.available';

/** The name of what runs short in messages. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

interface SignalKind {
  readonly pressure: keyof NodePressures;
  readonly resource: Resource;
  readonly supply: (node: NodeUsage) => Supply | undefined;
}

/** Those of the disk that pods write to come before that of their containers' layers, which may be the same one. */
export const signalKinds: Readonly<Record<Signal, SignalKind>> = {
  'memory.available': { pressure: 'memory', resource: 'memory', supply: ({ memory }) => memory },
  'allocatableMemory.available': { pressure: 'memory', resource: 'memory', supply: ({ podsMemory }) => podsMemory },
  'imagefs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ imagefs }) => imagefs },
  'imagefs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ imagefsInodes }) => imagefsInodes },
  'nodefs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ nodefs }) => nodefs },
  'nodefs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ nodefsInodes }) => nodefsInodes },
  'containerfs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ containerfs }) => containerfs },
  'containerfs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ containerfsInodes }) => containerfsInodes },
  'pid.available': { pressure: 'pid', resource: 'pids', supply: ({ pids }) => pids },
};

export const signals = Object.keys(signalKinds) as readonly Signal[];

/** Below this, the node runs short. */
export interface Threshold {
  readonly signal: Signal;
  /** A quantity, or a share of the capacity, such as `10%`. */
  readonly value: string;
  /** How long it has to be met before pods go; 0 for a hard threshold. */
  readonly graceMs: number;
  /** Once pods had to go, so much more there must be before it counts as met no longer: a quantity, or a share. */
  readonly minimumReclaim?: string | undefined;
}

/** A threshold that was met, with what there was. */
export interface MetThreshold extends Threshold {
  /** The threshold in bytes or pieces. */
  readonly quantity: number;
  readonly available: number;
}

/** When pods are evicted, by signal: quantities or shares, and waits in milliseconds. */
export interface ThresholdSettings {
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionSoft?: Readonly<Record<string, string>> | undefined;
  readonly evictionSoftGracePeriodMs?: Readonly<Record<string, number>> | undefined;
  readonly evictionMinimumReclaim?: Readonly<Record<string, string>> | undefined;
  /** False: all pods together may have what the machine has, so their share of the memory has no threshold of its own. Default true. */
  readonly isAllocatableEnforced?: boolean | undefined;
}

/** Images and what containers write are on the disk of the agent's own folder. */
export const oneDisk: DiskLayout = { hasDedicatedImagefs: false };

/**
 * The thresholds of the settings. A hard one of memory holds twice: for the memory of the machine, and for what all pods together
 * may have. Those of containerfs are those of the disk that containers write to, whatever the settings say of it.
 */
export function thresholdsOf(settings: ThresholdSettings, layout: DiskLayout = oneDisk): Threshold[] {
  const { evictionHard, evictionSoft = {}, evictionSoftGracePeriodMs = {}, evictionMinimumReclaim = {} } = settings;
  const { isAllocatableEnforced = true } = settings;
  const given = (values: Readonly<Record<string, string>>, graceOf: (signal: Signal) => number): Threshold[] =>
    signals.flatMap((signal) => {
      const value = values[signal];
      if (value === undefined || value === '0%' || value === '100%' || isOfContainers(signal)) return [];
      return [{ signal, value, graceMs: graceOf(signal), minimumReclaim: evictionMinimumReclaim[signal] }];
    });
  const thresholds = [
    ...given(evictionHard, () => 0),
    ...given(evictionSoft, (signal) => evictionSoftGracePeriodMs[signal] ?? 0),
  ];
  const isDoubled = ({ signal, graceMs }: Threshold): boolean =>
    isAllocatableEnforced && signal === 'memory.available' && graceMs === 0;
  const written = layout.hasDedicatedImagefs && !layout.hasSplitContainerfs ? 'imagefs' : 'nodefs';
  return [
    ...thresholds,
    ...thresholds.filter(isDoubled).map((threshold): Threshold => ({ ...threshold, signal: 'allocatableMemory.available' })),
    ...thresholds.flatMap((threshold): Threshold[] => {
      if (threshold.signal === `${written}.available`) return [{ ...threshold, signal: 'containerfs.available' }];
      return threshold.signal === `${written}.inodesFree` ? [{ ...threshold, signal: 'containerfs.inodesFree' }] : [];
    }),
  ];
}

/** Two thresholds are the same one when signal, value and grace period are. */
export function thresholdKey({ signal, value, graceMs }: Threshold): string {
  return `${signal} ${value} ${graceMs}`;
}

/** Those that are met. What is not known meets nothing. `withReclaim`: those that are met by less than what has to be reclaimed, too. */
export function metThresholds(thresholds: readonly Threshold[], node: NodeUsage, withReclaim = false): MetThreshold[] {
  return thresholds.flatMap((threshold) => {
    const supply = signalKinds[threshold.signal].supply(node);
    if (supply === undefined) return [];
    const { value, minimumReclaim } = threshold;
    const quantity = quantityOf(value, supply.capacity);
    const wanted = withReclaim && minimumReclaim !== undefined ? quantityOf(minimumReclaim, supply.capacity) : 0;
    return supply.available < quantity + wanted ? [{ ...threshold, quantity, available: supply.available }] : [];
  });
}

/** Whose pods have to go first: memory before all others, and hard ones before soft ones. */
export function byUrgency(thresholds: readonly MetThreshold[]): MetThreshold[] {
  const isMemory = ({ signal }: MetThreshold): boolean => signalKinds[signal].resource === 'memory';
  return thresholds.toSorted(
    (a, b) => Number(isMemory(b)) - Number(isMemory(a)) || Number(a.graceMs > 0) - Number(b.graceMs > 0),
  );
}

/** A share is a number of single precision, as the kubelet's. */
function quantityOf(value: string, capacity: number): number {
  return isShare(value) ? Math.trunc(capacity * Math.fround(Math.fround(Number(value.slice(0, -1))) / 100)) : wholeOf(value);
}

function isShare(value: string): boolean {
  return value.endsWith('%');
}

/** `Threshold quantity: 100Mi, available: 95Mi. ` */
export function thresholdText({ signal, value, quantity, available }: MetThreshold): string {
  const { resource } = signalKinds[signal];
  const isOfBytes = resource === 'memory' || resource === 'ephemeral-storage';
  const wanted = isShare(value) ? bytesText(quantity) : canonicalQuantity(value);
  return `Threshold quantity: ${wanted}, available: ${isOfBytes ? bytesText(available) : canonicalQuantity(String(available))}. `;
}

/** True for a threshold of the file system that containers write to, which follows from the others. */
export function isOfContainers(signal: string): boolean {
  return signal.startsWith('containerfs.');
}

// Behaviour of pkg/kubelet/eviction/helpers.go (buildSignalToRankFunc, buildSignalToNodeReclaimFuncs), v1.36.3.

/** What of a pod lies on the disk that runs short. */
export function diskPartsOf(signal: Signal, { hasDedicatedImagefs, hasSplitContainerfs }: DiskLayout): DiskParts {
  if (!hasDedicatedImagefs) return { layers: true, nodeFiles: true };
  const isOfImages = signal.startsWith('imagefs');
  if (hasSplitContainerfs) return { layers: !isOfImages, nodeFiles: !isOfImages };
  const isOfNode = signal.startsWith('nodefs');
  return { layers: !isOfNode, nodeFiles: isOfNode };
}

/** What of the node can go before a pod has to. */
export type Reclaimable = 'containers' | 'images';

/** What goes first, in this order, when this signal says that the node runs short. */
export function reclaimablesOf(signal: Signal, { hasDedicatedImagefs, hasSplitContainerfs }: DiskLayout): readonly Reclaimable[] {
  if (signalKinds[signal].pressure !== 'disk') return [];
  if (!hasDedicatedImagefs) return ['containers', 'images'];
  if (hasSplitContainerfs) return [signal.startsWith('imagefs') ? 'images' : 'containers'];
  return signal.startsWith('nodefs') ? [] : ['containers', 'images'];
}
