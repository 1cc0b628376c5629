import { errorText } from '../../base/errors.ts';
import { callGuarded, ignoreFailure, isThenable } from '../../base/guard.ts';
import type { DebugNode } from './debug-api.ts';
import { isoTime } from './plain-text.ts';

/** What the handler asks a node: a `ProviderNode`, or anything that answers like one. Both answers can be turned into JSON. */
export interface DebugNodeSource {
  /** `pods: false`: the pods are not needed. */
  snapshot(options: { readonly pods: boolean }): {
    readonly nodeName: string;
    readonly state: string;
    readonly ready: boolean;
    readonly registered: boolean;
    /** In words: what the node waits for, and what failed last. */
    readonly notes: readonly string[];
  };
  /** Why this pod is as it is; its member `status` is left out. */
  explain(podUID: string): object;
}

const deepest = 3;
const linesAtMost = 60;
const longestValue = 500;

/** The node's head. A node that gives no sound answer is shown as unknown, and its failure as a note. */
export function debugNode(node: DebugNodeSource | undefined): DebugNode | undefined {
  if (node === undefined) return undefined;
  let failure = 'it gave no answer';
  const told: unknown = callGuarded(
    () => node.snapshot({ pods: false }),
    (error) => {
      failure = errorText(error);
    },
  );
  if (typeof told === 'object' && told !== null && !isThenable(told)) return headOf(told);
  return { name: '', state: 'unknown', ready: false, registered: false, notes: [`the node cannot be asked: ${failure}`] };
}

function headOf({ nodeName, state, ready, registered, notes }: Partial<ReturnType<DebugNodeSource['snapshot']>>): DebugNode {
  return {
    name: textOf('nodeName', nodeName) ?? '',
    state: textOf('state', state) ?? 'unknown',
    ready: ready === true,
    registered: registered === true,
    notes: Array.isArray(notes) ? notes.flatMap((note) => textOf('note', note) ?? []) : [],
  };
}

/** What the node says of a pod, one line for each value; nested names are joined by dots, and times are written out. */
export function linesOf(node: DebugNodeSource | undefined, podUID: string): [name: string, value: string][] {
  const told: unknown = callGuarded(() => node?.explain(podUID), ignoreFailure);
  if (typeof told !== 'object' || told === null) return [];
  const { status: _, ...rest } = told as Record<string, unknown>;
  const lines: [string, string][] = [];
  callGuarded(() => addLines(lines, '', rest, deepest), ignoreFailure);
  return lines;
}

function addLines(lines: [string, string][], prefix: string, value: object, depth: number): void {
  for (const [key, inner] of Object.entries(value)) {
    if (lines.length >= linesAtMost) return;
    const name = prefix === '' ? key : `${prefix}.${key}`;
    if (typeof inner === 'object' && inner !== null && !(inner instanceof Date)) {
      if (depth > 1) addLines(lines, name, inner, depth - 1);
      continue;
    }
    const text = textOf(key, inner);
    if (text !== undefined) lines.push([name, text]);
  }
}

function textOf(key: string, value: unknown): string | undefined {
  if (value instanceof Date) return isoTime(value.getTime());
  if (typeof value === 'number' && /(?:At|Since|Until)$/.test(key)) return isoTime(value) ?? String(value);
  if (typeof value === 'string') return value.slice(0, longestValue);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
