// Behaviour of pkg/kubelet/eviction (api/types.go, helpers.go), v1.36.3.
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import { bytesText, wholeOf } from '../resize/resource-amounts.ts';
import type { NodeUsage, Supply } from './usage.ts';

/** What can run short, as the settings of the kubelet name it. */
export type Signal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

/** Below this, the node runs short. */
export interface Threshold {
  readonly signal: Signal;
  /** A quantity, or a share of the capacity, such as `10%`. */
  readonly value: string;
}

/** The name of what runs short in messages. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

interface SignalKind {
  readonly pressure: keyof NodePressures;
  readonly resource: Resource;
  readonly supply: (node: NodeUsage) => Supply | undefined;
}

export const signalKinds: Readonly<Record<Signal, SignalKind>> = {
  'memory.available': { pressure: 'memory', resource: 'memory', supply: ({ memory }) => memory },
  'allocatableMemory.available': { pressure: 'memory', resource: 'memory', supply: ({ podsMemory }) => podsMemory },
  'imagefs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ imagefs }) => imagefs },
  'imagefs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ imagefsInodes }) => imagefsInodes },
  'nodefs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ nodefs }) => nodefs },
  'nodefs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ nodefsInodes }) => nodefsInodes },
  'pid.available': { pressure: 'pid', resource: 'pids', supply: ({ pids }) => pids },
};

/** A threshold that was met, with what there was. */
export interface MetThreshold extends Threshold {
  /** The threshold in bytes or pieces. */
  readonly quantity: number;
  readonly available: number;
}

/**
 * The thresholds of a setting. That of memory holds twice: for the memory of the machine, and for what all pods together may have.
 * Those that this agent has no signal for are left out.
 */
export function thresholdsOf(settings: Readonly<Record<string, string>>): Threshold[] {
  return (Object.keys(signalKinds) as Signal[]).flatMap((signal) => {
    const value = settings[signal === 'allocatableMemory.available' ? 'memory.available' : signal];
    return value === undefined ? [] : [{ signal, value }];
  });
}

/** Those that are met; memory comes first. What is not known meets nothing. */
export function metThresholds(thresholds: readonly Threshold[], node: NodeUsage): MetThreshold[] {
  const met = thresholds.flatMap((threshold) => {
    const supply = signalKinds[threshold.signal].supply(node);
    if (supply === undefined) return [];
    const quantity = quantityOf(threshold.value, supply.capacity);
    return supply.available < quantity ? [{ ...threshold, quantity, available: supply.available }] : [];
  });
  const isMemory = ({ signal }: MetThreshold): boolean => signalKinds[signal].resource === 'memory';
  return met.sort((a, b) => Number(isMemory(b)) - Number(isMemory(a)));
}

function quantityOf(value: string, capacity: number): number {
  return value.endsWith('%') ? Math.trunc((capacity * Number(value.slice(0, -1))) / 100) : wholeOf(value);
}

/** `Threshold quantity: 100Mi, available: 95Mi. ` */
export function thresholdText({ quantity, available }: MetThreshold): string {
  return `Threshold quantity: ${bytesText(quantity)}, available: ${bytesText(available)}. `;
}
