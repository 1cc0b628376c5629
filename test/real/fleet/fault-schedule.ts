import { setTimeout as delay } from 'node:timers/promises';
import { Prng } from '../../random/chaos/prng.ts';
import { type FaultScene, type FleetFault, memberFaults } from './member-faults.ts';
import { serverFaults } from './server-faults.ts';

export interface FaultSchedule {
  readonly seed: number;
  readonly minutes: number;
  readonly faults: number;
  readonly log: (line: string) => void;
  /** Aborted: no further fault begins. */
  readonly signal: AbortSignal;
}

const allFaults: Readonly<Record<string, FleetFault>> = { ...memberFaults, ...serverFaults };

/** What cannot happen when it is due, as where too few members are left, is followed by another fault. */
const mostDraws = 8;

/** So many kinds in a random order, each as often as its weight says, within one. */
export function drawKinds(prng: Prng, weights: Readonly<Record<string, number>>, count: number): string[] {
  const all = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  const owed = Object.entries(weights).map(([kind, weight]) => ({ kind, share: (count * weight) / all }));
  const sure = owed.flatMap(({ kind, share }) => Array.from({ length: Math.floor(share) }, () => kind));
  const rest = prng.shuffled(owed).sort((a, b) => (b.share % 1) - (a.share % 1));
  return prng.shuffled([...sure, ...rest.slice(0, count - sure.length).map(({ kind }) => kind)]);
}

/** All faults, one after another at times that the seed says; several may be under way at once. Resolves to how often each happened. */
export async function happen(
  scene: FaultScene,
  { minutes, faults, seed, log, signal }: FaultSchedule,
): Promise<ReadonlyMap<string, number>> {
  const prng = new Prng(seed).fork('faults');
  const happened = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const weights = Object.fromEntries(Object.entries(allFaults).map(([kind, { weight }]) => [kind, weight]));
  const everyMs = (minutes * 60_000) / faults;
  let servers: Promise<unknown> = Promise.resolve();
  const once = (kind: string, own: FaultScene): Promise<boolean> => {
    const run = async (): Promise<boolean> => (await allFaults[kind]?.run(own)) === true;
    if (!(kind in serverFaults)) return run();
    const turn = servers.then(run);
    servers = turn;
    return turn;
  };
  const began = performance.now();
  const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);
  const untilIsOver = async (dueAt: number): Promise<void> => {
    await delay(Math.max(0, dueAt - performance.now()), undefined, { signal }).catch(() => {});
  };
  for (const [n, first] of drawKinds(prng, weights, faults).entries()) {
    await untilIsOver(began + (n + prng.next()) * everyMs);
    if (signal.aborted) break;
    const draws = [first, ...Array.from({ length: mostDraws }, () => prng.weighted(weights))];
    const own: FaultScene = { ...scene, prng: prng.fork(`${n}`) };
    underWay.add(
      (async () => {
        for (const kind of draws) {
          log(`${seconds()} s: ${kind}`);
          if (!(await once(kind, own))) {
            log(`${seconds()} s: not now: ${kind}`);
            continue;
          }
          happened.set(kind, (happened.get(kind) ?? 0) + 1);
          log(`${seconds()} s: over: ${kind}; ${[...happened.values()].reduce((sum, count) => sum + count, 0)} faults so far`);
          return;
        }
      })(),
    );
  }
  await Promise.all(underWay);
  await untilIsOver(began + minutes * 60_000);
  return happened;
}
