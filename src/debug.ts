/**
 * Live views of a status manager, a node, a scheduler and a fleet for people: a handler for any Node HTTP server.
 *
 * @module pod-status-manager/debug
 */
import './base/node-version.ts';

export type { Problem } from './base/problem.ts';
export type {
  DebugCall,
  DebugChanges,
  DebugFleetHead,
  DebugNode,
  DebugNote,
  DebugPart,
  DebugPathChange,
  DebugPod,
  DebugPodRow,
  DebugProblem,
  DebugScheduler,
  DebugSnapshot,
  DebugSummary,
  DebugTimelineEntry,
  DebugTraffic,
} from './observe/debug/debug-api.ts';
export type {
  DebugFleet,
  DebugFleetHistory,
  DebugFleetHistoryMember,
  DebugFleetMember,
  DebugFleetNode,
  DebugFleetNodeRow,
} from './observe/debug/debug-fleet-api.ts';
export type { DebugHandlerOptions, DebugHistoryOptions } from './observe/debug/debug-handler.ts';
export { createDebugHandler, type DebugHandler } from './observe/debug/debug-handler.ts';
export type { DebugNodeSource, DebugPodCall, DebugPodWithoutStatus, DebugSchedulerSource } from './observe/debug/debug-part.ts';
export type { DebugManager } from './observe/debug/described-pod.ts';
export type { DebugFleetSource } from './observe/debug/told-fleet.ts';
