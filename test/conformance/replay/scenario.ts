import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { WirePod, WirePodCondition, WirePodStatus } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/wire/types.ts';

/** One step of a scenario, with what the upstream manager did. */
export interface Step {
  readonly op: string;
  readonly pod?: WirePod;
  readonly podUID?: string;
  readonly podUIDs?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  readonly status?: WirePodStatus;
  readonly containerID?: string;
  readonly value?: boolean;
  readonly seconds?: number;
  readonly verb?: 'get' | 'patch' | 'delete';
  readonly code?: number;
  readonly times?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly generation?: number;
  /** Set the status with the manager's resize conditions in front of its own. */
  readonly withResizeConditions?: boolean;
  readonly expect: Expectation;
}

export interface Expectation {
  readonly changed?: boolean;
  /** What an operation other than setPodStatus answered. */
  readonly result?: unknown;
  readonly calls?: readonly Call[];
  readonly notifications?: readonly Notification[];
  /** Left out where it is as after the step before. */
  readonly cache?: Readonly<Record<string, WirePodStatus>>;
  readonly server?: Readonly<Record<string, ServerPod>>;
  readonly resizeConditions?: ResizeConditions;
}

/** By pod uid; a pod without one is not in it. */
export type ResizeConditions = Readonly<Record<string, readonly WirePodCondition[]>>;

export interface Call {
  readonly verb: 'get' | 'patch' | 'delete';
  readonly namespace: string;
  readonly name: string;
  readonly patch?: JsonObject;
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
  readonly error?: number;
}

export interface Notification {
  readonly type: 'updated' | 'removed';
  readonly podUID: string;
  readonly isAdded?: boolean;
}

export interface ServerPod {
  readonly uid: string;
  readonly deleting?: boolean;
  readonly status: WirePodStatus;
}

export interface Scenario {
  readonly name: string;
  readonly start: string;
  readonly steps: readonly Step[];
}

export interface TableCase {
  readonly fn: string;
  readonly in: JsonObject;
  readonly out: unknown;
}

/** The lines of a .jsonl or .jsonl.gz file; a file may hold scenarios, table cases, or both. */
export function readCases(file: string): { scenarios: Scenario[]; tables: TableCase[] } {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const scenarios: Scenario[] = [];
  const tables: TableCase[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const value: unknown = JSON.parse(line);
    if (isTableCase(value)) tables.push(value);
    else if (isScenario(value)) scenarios.push(value);
    else throw new Error(`${file}:${index + 1} is neither a scenario nor a table case`);
  });
  return { scenarios, tables };
}

function isTableCase(value: unknown): value is TableCase {
  return typeof value === 'object' && value !== null && 'fn' in value && 'in' in value;
}

function isScenario(value: unknown): value is Scenario {
  return typeof value === 'object' && value !== null && 'steps' in value && Array.isArray(value.steps);
}
