import type { SoakPart } from '../soak-world.ts';
import { kubeletApiPart } from './kubelet-api/kubelet-api-part.ts';
import { agentPart, eventsPart, probesPart, providerPart } from './nodes.ts';
import { mirrorPart, objectsPart, sourcesPart } from './readers.ts';
import { clusterSchedulerPart, schedulerPart } from './schedulers.ts';
import { statusPart } from './status.ts';

/** Every class that lives as long as its process. */
export const soakParts: readonly SoakPart[] = [
  ...[statusPart, sourcesPart, objectsPart, mirrorPart, probesPart, eventsPart, providerPart, agentPart],
  ...[schedulerPart, clusterSchedulerPart, kubeletApiPart],
];
