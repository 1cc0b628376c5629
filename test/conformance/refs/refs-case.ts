import type { Pod } from '../../../src/index.ts';
import type { KindCase } from '../kinds/case-kind.ts';

export interface RecordedObject {
  readonly namespace: string;
  readonly name: string;
  readonly value?: string;
  readonly immutable?: boolean;
  readonly resourceVersion?: string;
}

/** A request that the manager made, or a watch that it ended. */
export interface RecordedAction {
  readonly verb: 'get' | 'list' | 'watch' | 'stopWatch';
  readonly namespace: string;
  /** Of a get. */
  readonly name?: string;
  /** Of the others. */
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly limit?: number;
  /** The code that the server answered with. */
  readonly error?: number;
}

/** What one step has led to. Members that are empty are left out. */
export interface RefsOutcome {
  readonly actions?: readonly RecordedAction[];
  readonly object?: RecordedObject;
  readonly error?: { readonly kind: 'notRegistered' | 'notFound' | 'syncTimeout' | 'api'; readonly message: string };
  readonly waitedMs?: number;
  /** Left out where the same watches are open as after the step before. */
  readonly openWatches?: readonly string[];
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

interface StepArguments {
  register: { readonly pod: Pod };
  unregister: { readonly pod: Pod };
  get: Named;
  'server.put': { readonly object: RecordedObject };
  'server.delete': Named;
  'server.fail': {
    readonly verb: 'get' | 'list' | 'watch';
    readonly name: string;
    readonly code: number;
    readonly times: number;
  };
  'server.stale': Named & { readonly times: number };
  'server.hold': { readonly name: string };
  'server.letGo': { readonly name: string };
  'server.closeWatches': object;
  'server.expireWatches': object;
  /** Without seconds the node says none. */
  nodeTTL: { readonly seconds?: number };
  advance: { readonly seconds: number };
}

export type RefsStep = {
  [Op in keyof StepArguments]: { readonly op: Op; readonly expect: RefsOutcome } & StepArguments[Op];
}[keyof StepArguments];

/** A recording of the kubelet's manager of secrets or of config maps. */
export interface RefsCase extends KindCase {
  readonly start: string;
  readonly resource: 'secrets' | 'configmaps';
  readonly mode: 'cache' | 'watch';
  /** The server streams lists. */
  readonly watchList?: boolean;
  readonly resyncSeconds?: number;
  readonly nodeTTLSeconds?: number;
  readonly steps: readonly RefsStep[];
}

const ops: readonly string[] = [
  ...['register', 'unregister', 'get', 'nodeTTL', 'advance', 'server.put', 'server.delete', 'server.fail', 'server.stale'],
  ...['server.hold', 'server.letGo', 'server.closeWatches', 'server.expireWatches'],
];

/** What is wrong with the case; undefined when it can be played. */
export function refsCaseProblem(value: unknown): string | undefined {
  const { resource, mode, steps } = value as Partial<RefsCase>;
  if (resource !== 'secrets' && resource !== 'configmaps') return `unknown resource ${JSON.stringify(resource)}`;
  if (mode !== 'cache' && mode !== 'watch') return `unknown mode ${JSON.stringify(mode)}`;
  if (!Array.isArray(steps)) return 'a refs case without steps';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
