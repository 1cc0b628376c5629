import type { NodeState } from '../../../src/scheduler/nodes/node-info.ts';
import type { AllocatableAmounts } from '../../../src/scheduler/nodes/resource.ts';
import type { RecordedAmounts, RecordedNode } from './cache-case.ts';

/** A node's state in the form of the recording. */
export function recordNode(state: NodeState): RecordedNode {
  const pods = state.pods.map(({ key }) => key).sort();
  const podsWithAffinity = state.podsWithAffinity.map(({ key }) => key).sort();
  const ports = [...state.usedPorts].flatMap(([port, addresses]) => addresses.map((ip) => `${ip} ${port}`)).sort();
  const images = [...state.images].map(([name, { sizeBytes, nodes }]) => `${name} ${sizeBytes} ${nodes}`).sort();
  return {
    ...(!state.hasNode && { noNode: true }),
    ...(pods.length > 0 && { pods }),
    ...(podsWithAffinity.length > 0 && { podsWithAffinity }),
    requested: recordAmounts(state.requested),
    nonZeroRequested: recordAmounts(state.nonZeroRequested),
    allocatable: recordAmounts(state.allocatable),
    ...(ports.length > 0 && { ports }),
    ...(images.length > 0 && { images }),
  };
}

function recordAmounts(amounts: Partial<AllocatableAmounts>): RecordedAmounts {
  const { milliCPU, memory, ephemeralStorage, pods, scalar } = amounts;
  return {
    ...(milliCPU && { milliCPU }),
    ...(memory && { memory }),
    ...(ephemeralStorage && { ephemeralStorage }),
    ...(pods && { pods }),
    ...(scalar !== undefined && scalar.size > 0 && { scalar: Object.fromEntries(scalar) }),
  };
}
