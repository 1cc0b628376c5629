/**
 * Live views of a status manager and a node for people: a handler for any Node HTTP server.
 *
 * @module pod-status-manager/debug
 */
import './node-version.ts';

export type { DebugManager } from './debug/board.ts';
export type {
  DebugChanges,
  DebugNode,
  DebugPathChange,
  DebugPod,
  DebugPodRow,
  DebugSnapshot,
  DebugSummary,
  DebugTimelineEntry,
  DebugTraffic,
} from './debug/debug-api.ts';
export { createDebugHandler, type DebugHandler } from './debug/debug-handler.ts';
export type { DebugNodeSource } from './debug/debug-node.ts';
export type { DebugHandlerOptions, DebugHistoryOptions } from './debug/debug-options.ts';
