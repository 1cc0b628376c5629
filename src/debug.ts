/**
 * Live views of a status manager and a node for people: a handler for any Node HTTP server.
 *
 * @module pod-status-manager/debug
 */
import './base/node-version.ts';

export type { DebugManager } from './observe/debug/board.ts';
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
} from './observe/debug/debug-api.ts';
export type { DebugHandlerOptions, DebugHistoryOptions } from './observe/debug/debug-handler.ts';
export { createDebugHandler, type DebugHandler } from './observe/debug/debug-handler.ts';
export type { DebugNodeSource } from './observe/debug/debug-node.ts';
