// The names of events' fields in events.k8s.io/v1; behaviour of pkg/apis/events/v1/conversion.go, v1.36.3.
import type { JsonObject } from '../../api/json/types.ts';

/** The name in the core group, and in `events.k8s.io`. */
const renamed: readonly (readonly [core: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];
const newerNames = new Map(renamed);
const coreNames = new Map(renamed.map(([core, newer]) => [newer, core]));

/** An event of the core group as one of `events.k8s.io`. */
export function asNewerEvent(event: JsonObject): JsonObject {
  return { ...withNames(event, newerNames), apiVersion: 'events.k8s.io/v1' };
}

/** An event of `events.k8s.io` as one of the core group. */
export function asCoreEvent(event: JsonObject): JsonObject {
  return { ...withNames(event, coreNames), apiVersion: 'v1' };
}

function withNames(event: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]));
}
