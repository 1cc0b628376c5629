import type { WirePod } from '../../../src/index.ts';
import type { KindCase } from '../kinds/case-kind.ts';

export interface MirrorCall {
  readonly verb: 'create' | 'delete';
  readonly namespace: string;
  readonly name: string;
  /** Of a create: the pod as it was sent. */
  readonly pod?: unknown;
  /** Of a delete. */
  readonly options?: unknown;
  /** The code that the server answered with. */
  readonly error?: number;
}

/** "namespace/name" of each pod on the server, to its uid and its mirror annotation. */
export type ServerView = Readonly<Record<string, readonly [uid: string, hash: string]>>;

/** What one step has led to. Members that are empty are left out. */
export interface MirrorOutcome {
  readonly calls?: readonly MirrorCall[];
  /** Of a delete. */
  readonly deleted?: boolean;
  /** What the call has failed with, in upstream's words. */
  readonly error?: string;
  /** Left out where the server holds what it held after the step before. */
  readonly server?: ServerView;
}

interface StepArguments {
  node: { readonly nodeUID?: string; readonly nodeError?: string };
  'server.put': { readonly pod: WirePod };
  'server.remove': { readonly namespace: string; readonly name: string };
  'server.fail': { readonly verb: 'create' | 'delete'; readonly code: number };
  create: { readonly pod: WirePod };
  /** A full name that is left out is the empty one. */
  delete: { readonly podFullName?: string; readonly uid?: string };
}

export type MirrorStep = {
  [Op in keyof StepArguments]: { readonly op: Op; readonly expect: MirrorOutcome } & StepArguments[Op];
}[keyof StepArguments];

/** A recording of the kubelet's mirror client. */
export interface MirrorCase extends KindCase {
  readonly nodeName: string;
  /** The agent has no apiserver. */
  readonly noClient?: boolean;
  readonly steps: readonly MirrorStep[];
}

const ops: readonly string[] = ['node', 'server.put', 'server.remove', 'server.fail', 'create', 'delete'];

/** What is wrong with the case; undefined when it can be played. */
export function mirrorCaseProblem(value: unknown): string | undefined {
  const { nodeName, steps } = value as Partial<MirrorCase>;
  if (typeof nodeName !== 'string') return 'a mirror case without a node name';
  if (!Array.isArray(steps)) return 'a mirror case without steps';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
