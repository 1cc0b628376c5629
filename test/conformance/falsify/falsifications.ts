import type { JsonObject } from '../../../src/api/json/types.ts';
import type { WirePodStatus } from '../../../src/index.ts';
import type { Call, Expectation, Scenario, ServerPod } from '../replay/replay-scenario.ts';
import { lies } from './lies.ts';

export const kinds = [
  'podIP',
  'restartCount',
  'lastState',
  'condition status',
  'condition time',
  'message',
  'write missing',
  'DELETE missing',
  'DELETE with another uid',
] as const;
export type Kind = (typeof kinds)[number];

/** Where a false status is told: in one expectation, or in all three of a step, which then agree with each other. */
export const places = ['cache', 'server', 'patch', 'patch and server', 'cache, patch and server', 'calls'] as const;
export type Place = (typeof places)[number];

/** One thing that could be told falsely. */
export interface Falsification {
  readonly kind: Kind;
  readonly place: Place;
  readonly step: number;
  /** "namespace/name". */
  readonly pod: string;
  /** The step's expectation, made false. */
  readonly told: () => Expectation;
}

/** Everything that can be told falsely of a scenario, one expectation of one step each. */
export function falsifications({ steps }: Scenario): Falsification[] {
  const podOf = new Map<string, string>();
  return steps.flatMap(({ expect, pod }, step) => {
    const { uid, namespace, name } = pod?.metadata ?? {};
    if (uid !== undefined) podOf.set(uid, `${namespace}/${name}`);
    const found = [...falseStatuses(expect, podOf), ...falseCalls(expect)];
    return found.map((falsification) => ({ ...falsification, step }));
  });
}

/** The scenario with that one step told falsely: the next step tells the truth again. */
export function falsified(scenario: Scenario, { step, told }: Falsification): Scenario {
  const steps = [...scenario.steps];
  const at = (index: number): Scenario['steps'][number] | undefined => steps[index];
  const [lying, next] = [at(step), at(step + 1)];
  if (lying === undefined) throw new Error(`${scenario.name} has no step ${step}`);
  steps[step] = { ...lying, expect: told() };
  const { cache, server } = lying.expect;
  const truth = { ...(cache && { cache }), ...(server && { server }) };
  if (next !== undefined) steps[step + 1] = { ...next, expect: { ...truth, ...next.expect } };
  return { ...scenario, steps };
}

type Found = Omit<Falsification, 'step'>;

function falseStatuses(expect: Expectation, podOf: ReadonlyMap<string, string>): Found[] {
  return Object.entries(lies).flatMap(([name, lie]) => {
    const kind = name as keyof typeof lies;
    const inCache = Object.entries(expect.cache ?? {}).flatMap(([uid, status]) =>
      lie(status).map((value): Found => {
        return { kind, place: 'cache', pod: podOf.get(uid) ?? '', told: () => withCached(expect, uid, value()) };
      }),
    );
    const onServer = Object.entries(expect.server ?? {}).flatMap(([pod, stored]) =>
      lie(stored.status).map((value): Found => {
        return { kind, place: 'server', pod, told: () => withStored(expect, pod, { ...stored, status: value() }) };
      }),
    );
    return [...inCache, ...onServer, ...falsePatches(kind, expect)];
  });
}

/** A patch that says something false; the server, and the cache, may say the same. */
function falsePatches(kind: keyof typeof lies, expect: Expectation): Found[] {
  return (expect.calls ?? []).flatMap((call, index): Found[] => {
    const status = call.patch?.status;
    if (call.verb !== 'patch' || call.error || status === undefined) return [];
    const pod = `${call.namespace}/${call.name}`;
    return lies[kind](status as WirePodStatus).flatMap((value): Found[] => {
      const patched = (): Expectation =>
        withCall(expect, index, { ...call, patch: { ...call.patch, status: value() as unknown as JsonObject } });
      const stored = expect.server?.[pod];
      if (stored === undefined) return [{ kind, place: 'patch', pod, told: patched }];
      const served = (): Expectation => withStored(patched(), pod, { ...stored, status: overlaid(stored.status, value()) });
      const cached = expect.cache?.[stored.uid];
      const all = (): Expectation => withCached(served(), stored.uid, overlaid(cached ?? {}, value()));
      return [
        { kind, place: 'patch', pod, told: patched },
        { kind, place: 'patch and server', pod, told: served },
        ...(cached === undefined ? [] : [{ kind, place: 'cache, patch and server', pod, told: all } as const]),
      ];
    });
  });
}

function falseCalls(expect: Expectation): Found[] {
  return (expect.calls ?? []).flatMap((call, index): Found[] => {
    if (call.error || call.verb === 'get') return [];
    const pod = `${call.namespace}/${call.name}`;
    const told = (): Expectation => ({ ...expect, calls: (expect.calls ?? []).toSpliced(index, 1) });
    if (call.verb === 'patch') return [{ kind: 'write missing', place: 'calls', pod, told }];
    const other = (): Expectation => withCall(expect, index, { ...call, uid: `${call.uid}-other` });
    return [
      { kind: 'DELETE missing', place: 'calls', pod, told },
      { kind: 'DELETE with another uid', place: 'calls', pod, told: other },
    ];
  });
}

function withCached(expect: Expectation, uid: string, status: WirePodStatus): Expectation {
  return { ...expect, cache: { ...expect.cache, [uid]: status } };
}

function withStored(expect: Expectation, pod: string, stored: ServerPod): Expectation {
  return { ...expect, server: { ...expect.server, [pod]: stored } };
}

function withCall(expect: Expectation, index: number, call: Call): Expectation {
  return { ...expect, calls: (expect.calls ?? []).with(index, call) };
}

/** A status with what the patch says: lists of containers whole, conditions by their types. */
function overlaid(status: WirePodStatus, patch: WirePodStatus): WirePodStatus {
  const { conditions, podIP, containerStatuses, initContainerStatuses, ephemeralContainerStatuses, message } = patch;
  const merged = status.conditions?.map((condition) => {
    const told = conditions?.find(({ type }) => type === condition.type);
    return told === undefined ? condition : { ...condition, ...told };
  });
  return {
    ...status,
    ...(merged && { conditions: merged }),
    ...(podIP && { podIP }),
    ...(message && { message }),
    ...(containerStatuses && { containerStatuses }),
    ...(initContainerStatuses && { initContainerStatuses }),
    ...(ephemeralContainerStatuses && { ephemeralContainerStatuses }),
  };
}
