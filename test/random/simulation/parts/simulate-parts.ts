import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { PartsMutant } from '../../chaos/parts/mutants.ts';
import type { PartsWorld, ServerSide } from '../../chaos/parts/parts-world.ts';
import type { PartsRule } from '../../chaos/parts/rules.ts';
import { runParts } from '../../chaos/parts/scenario.ts';
import { Prng } from '../../chaos/prng.ts';
import type { SeededOptions, SeededResult } from '../seeded-runs.ts';
import { ProcessClock, SimulatedClock } from '../simulated-clock.ts';
import { epochMs } from '../simulated-server.ts';
import { ApiFaults, fairApiWeather } from './api-weather.ts';
import { SimulatedObjects } from './simulated-objects.ts';
import { SimulatedTransport } from './simulated-transport.ts';

export type PartsSimulationOptions = SeededOptions<PartsMutant>;

export interface PartsSimulationResult extends SeededResult {
  readonly violation: { readonly rule: PartsRule; readonly detail: string; readonly atMs: number } | undefined;
}

const namespace = 'default';
/** The longest backoff twice, and a watch that lies still from the last moment of the faults. */
const convergeWithinMs = 420_000;

/** One run in virtual time. It ends at the first broken promise: what breaks later may only follow from it. */
export async function simulateParts({ seed, minutes, mutant }: PartsSimulationOptions): Promise<PartsSimulationResult> {
  const clock = new SimulatedClock();
  const prng = new Prng(seed).fork('parts world');
  const weather = { ...fairApiWeather };
  const faults = new Map<string, number>();
  const count = (fault: string): void => {
    faults.set(fault, (faults.get(fault) ?? 0) + 1);
  };
  const objects = new SimulatedObjects(clock, prng.fork('server'), weather);
  const transport = new SimulatedTransport({ clock, objects, weather, count, prng: prng.fork('network') });
  const cachesLag = prng.fork('shape').chance(0.5);
  const agentClock = new ProcessClock(clock, epochMs);
  const storm = new ApiFaults({
    clock,
    weather,
    count,
    cachesLag,
    prng: prng.fork('faults'),
    compact: () => objects.compact(),
    resetAll: () => transport.resetAll(),
    jumpClock: (ms) => agentClock.jump(ms),
  });
  const world: PartsWorld = {
    clock: { now: () => clock.elapsedMs, setTimer: (callback, delayMs) => clock.schedule(callback, delayMs) },
    agentClock,
    namespace,
    nodeName: 'node-1',
    server: serverSide(objects),
    transport,
    cachesLag,
    openWatches: () => transport.openWatches,
    noticedWithinLooks: 1,
    convergeWithinMs,
    storm: async () => {
      await new Promise<void>((resolve) => clock.schedule(resolve, minutes * 60_000));
      storm.end();
    },
    silenceWatches: () => transport.silenceAll(),
    expireWatches: () => transport.expireAll(),
    leftovers: async () => [
      ...transport.openWatches.map(({ resource, name }) => `a watch of ${resource} ${name ?? ''}`),
      ...(transport.underWay > 0 ? [`${transport.underWay} requests`] : []),
      ...(agentClock.pendingTimers > 0 ? [`${agentClock.pendingTimers} timers`] : []),
    ],
  };
  let violation: PartsSimulationResult['violation'];
  const found = (rule: PartsRule, detail: string): void => {
    violation ??= { rule, detail, atMs: clock.elapsedMs };
  };
  let result: Awaited<ReturnType<typeof runParts>> | undefined;
  const run = { world, seed, mutant, found, isOver: () => violation !== undefined };
  runParts(run).then(
    (ended) => {
      result = ended;
    },
    (error: unknown) => found('nothing unforeseen happens', error instanceof Error ? `${error.stack}` : String(error)),
  );
  const lastMs = minutes * 60_000 + 3 * convergeWithinMs;
  await clock.runUntil(lastMs, () => result !== undefined || violation !== undefined);
  if (result === undefined) found('nothing unforeseen happens', 'the run did not end');
  const { counts = new Map(), convergedInMs } = result ?? {};
  return { seed, simulatedMs: clock.elapsedMs, steps: clock.turn, counts, faults, convergedInMs, violation };
}

/** The store itself: no fault stands between. */
function serverSide(objects: SimulatedObjects): ServerSide {
  const storeOf = (resource: string) => objects.target(`/api/v1/${resource}`).store;
  const pods = storeOf('pods');
  return {
    list: async (resource) => storeOf(resource).list({ namespace }),
    write: async (resource, object) => {
      const store = storeOf(resource);
      const isThere = store.has({ namespace, name: object.metadata?.name ?? '' });
      if (isThere) store.update(object);
      else store.create(object);
    },
    delete: async (resource, name) => {
      storeOf(resource).delete({ namespace, name });
    },
    pods: async () => pods.list({ namespace }),
    createPod: async (pod) =>
      pods.has({ namespace, name: pod.metadata?.name ?? '' })
        ? undefined
        : (pods.create(pod as object) as ApiObject as typeof pod),
    deletePod: async (name, { uid, force }) => {
      const pod = pods.list({ namespace }).find(({ metadata }) => metadata?.name === name && metadata.uid === uid);
      if (pod === undefined) return false;
      pods.delete({ namespace, name }, { preconditions: { uid }, ...(force ? { gracePeriodSeconds: 0 } : {}) });
      return true;
    },
  };
}
