import type { Logger } from '../../../../src/base/logging/logger.ts';
import { ObjectStore } from '../../../../src/client/reflector/object-store.ts';
import { Reflector } from '../../../../src/client/reflector/reflector.ts';
import { type ApiObject, resources } from '../../../../src/client/resources/api-resource.ts';
import { Prng } from '../prng.ts';
import { checkedTransport } from './checked-transport.ts';
import { allManagers, type ManagerParts } from './managed-objects.ts';
import { MirrorAgent } from './mirror-agent.ts';
import { MirrorHand } from './mirror-hand.ts';
import type { PartsMutant } from './mutants.ts';
import { ObjectAgent } from './object-agent.ts';
import { ObjectHand } from './object-hand.ts';
import { ObjectTruth, showsValue, tierLabel } from './object-truth.ts';
import type { PartsWorld } from './parts-world.ts';
import { Readings } from './readings.ts';
import { References } from './references.ts';
import type { PartsFound, PartsRule } from './rules.ts';
import { RunInProgress } from './run-in-progress.ts';
import { shownVersions, ToldObjects } from './told-objects.ts';

export interface PartsRun {
  readonly world: PartsWorld;
  readonly seed: number;
  readonly mutant?: PartsMutant | undefined;
  readonly found: PartsFound;
  /** True: the run need not go on. */
  readonly isOver: () => boolean;
}

export interface PartsResult {
  readonly counts: ReadonlyMap<string, number>;
  /** From the end of the faults until all was in step, in the world's milliseconds. */
  readonly convergedInMs: number | undefined;
}

const objectNames = Array.from({ length: 8 }, (_, i) => `object-${i}`);
const staticNames = Array.from({ length: 4 }, (_, i) => `static-${i}`);
const mostPods = 5;
const lookEveryMs = 500;
const silenceMs = 2000;
/** How late a value may be given out after its last reference went: the process may have stood still in between. */
const longestDeliveryMs = 2000;

/** One run: a node agent with all of the parts, other hands, faults; then calm, in which all comes into step; then the end. */
export async function runParts(options: PartsRun): Promise<PartsResult> {
  const { world, isOver } = options;
  const stage = setTheStage(options);
  const { run, prng, objectHand, objectAgent, mirrorHand, mirrorAgent } = stage;
  await objectHand.begin();
  await mirrorHand.begin();
  stage.start();
  run.repeat(prng.fork('registers'), 800, () => objectAgent.act());
  for (const reader of ['a', 'b', 'c']) run.repeat(prng.fork(`reader ${reader}`), 150, () => objectAgent.read());
  run.repeat(prng.fork('object hand'), 400, () => objectHand.act());
  run.repeat(prng.fork('static pods'), 3000, () => mirrorAgent.act());
  run.repeat(prng.fork('mirror hand'), 3000, () => mirrorHand.act());
  run.repeat(prng.fork('looks'), lookEveryMs, () => stage.look());
  const deeds = (): number => [...run.counts].reduce((sum, [what, n]) => (what.startsWith('object ') ? sum + n : sum), 0);
  await world.storm(isOver, deeds);
  await run.end();
  const convergedInMs = await settleDown(options, stage);
  await letGo(options, stage);
  return { counts: run.counts, convergedInMs };
}

type Stage = ReturnType<typeof setTheStage>;

function setTheStage({ world, seed, mutant, found }: PartsRun) {
  const prng = new Prng(seed);
  const shape = prng.fork('shape');
  const { clock, agentClock, namespace } = world;
  const run = new RunInProgress({ clock, found });
  const truth = new ObjectTruth();
  const references = new References(() => clock.now(), world);
  const readings = new Readings({
    namespace,
    run,
    truth,
    references,
    slackMs: world.noticedWithinLooks === 1 ? 0 : longestDeliveryMs,
  });
  const mirrorHand = new MirrorHand({ world, run, prng: prng.fork('mirror hand'), names: staticNames });
  const broken = mutant?.transport?.(world.transport) ?? world.transport;
  const transport = checkedTransport(broken, { found, isForeign: (uid) => mirrorHand.owns(uid) });
  const random = prng.fork('agent');
  const parts: ManagerParts = {
    transport,
    clock: agentClock,
    random: () => random.next(),
    logger: watchedLogger(found),
    streamLists: shape.chance(0.6),
  };
  const managers = allManagers(parts).map((manager) => mutant?.manager?.(manager) ?? manager);
  const actors = { world, run, truth };
  const objectHand = new ObjectHand({ ...actors, prng: prng.fork('objects'), names: objectNames });
  const prngs = { prng: prng.fork('pods') };
  const objectAgent = new ObjectAgent({ ...actors, ...prngs, references, readings, managers, names: objectNames, mostPods });
  const mirrors = { ...parts, world, run, prng: prng.fork('mirrors'), names: staticNames, broken: mutant?.reconciler };
  const mirrorAgent = new MirrorAgent(mirrors);
  const told = new ToldObjects(found);
  const reflector = new Reflector<ApiObject>({
    ...parts,
    resource: resources.configMaps as never,
    namespace,
    labelSelector: `${tierLabel}=seen`,
    handlers: told.handlers,
    store: mutant?.store?.() ?? new ObjectStore<ApiObject>(),
    listFrom: shape.pick(['latest', 'cache'] as const) ?? 'latest',
  });
  const start = (): void => {
    reflector.start().catch(() => {});
    mirrorAgent.start();
  };
  const seen = new Map<string, number>();
  const look = (): void => {
    const unnamed = new Set(objectAgent.unnamedWatches());
    for (const watch of seen.keys()) if (!unnamed.has(watch)) seen.delete(watch);
    for (const watch of unnamed) {
      seen.set(watch, (seen.get(watch) ?? 0) + 1);
      if (seen.get(watch) === world.noticedWithinLooks) found('no watch is open for what no pod names', watch);
    }
  };
  return { prng, run, readings, managers, objectHand, objectAgent, mirrorHand, mirrorAgent, told, reflector, start, look };
}

/** All comes into step; then much changes while every watch is silent, and all comes into step again. */
async function settleDown(options: PartsRun, stage: Stage): Promise<number | undefined> {
  const { world, isOver } = options;
  const { run, objectHand, objectAgent, mirrorAgent, mirrorHand } = stage;
  if (isOver()) return undefined;
  await mirrorHand.makeWay();
  await objectHand.settleDown();
  objectAgent.settleDown();
  mirrorAgent.settleDown();
  const convergedInMs = await comeIntoStep(options, stage);
  if (convergedInMs === undefined || isOver()) return undefined;
  world.silenceWatches();
  await objectHand.changeThose();
  await mirrorHand.takePlaceOf(mirrorAgent.settled.at(-1) ?? '');
  mirrorAgent.changeThose();
  await run.pause(silenceMs);
  await mirrorHand.makeWay();
  world.expireWatches();
  return (await comeIntoStep(options, stage)) === undefined ? undefined : convergedInMs;
}

/** Resolves to the time it took, or to undefined: what is still wrong then is found. */
async function comeIntoStep({ world, found }: PartsRun, stage: Stage): Promise<number | undefined> {
  const { run, objectAgent, mirrorAgent, mirrorHand, told, reflector } = stage;
  const fromMs = world.clock.now();
  const reflected = async (): Promise<string[]> => {
    const objects = await world.server.list('configmaps');
    const wanted = shownVersions(objects.filter(({ metadata }) => metadata?.labels?.[tierLabel] === 'seen'));
    const shown = { told: told.list(), stored: shownVersions(reflector.store.list()) };
    return Object.entries(shown).flatMap(([what, is]) =>
      is.join() === wanted.join() ? [] : [`reflector: ${what} [${is}], on the server [${wanted}]`],
    );
  };
  const behind = async (): Promise<string[]> =>
    (await Promise.all([objectAgent.whatIsBehind(), mirrorAgent.whatIsBehind(), reflected()])).flat();
  // a read that finds nothing new may still open the watch of an object that lay idle
  const watches = async (): Promise<string[]> => objectAgent.wrongWatches(world.openWatches());
  const wrong = async (): Promise<(readonly [PartsRule, string])[]> => [
    ...(await behind()).map((detail) => ['everything is brought up to date', detail] as const),
    ...(await watches()).map((detail) => ['what is read has one watch, and an immutable object none', detail] as const),
  ];
  let last: (readonly [PartsRule, string])[] = [];
  const left = await run.settlesWithin(world.convergeWithinMs, 1000, async () => {
    last = await wrong();
    return last.map(([, detail]) => detail);
  });
  for (const [rule, detail] of left.length === 0 ? [] : last) found(rule, detail);
  for (const detail of await mirrorHand.whatIsMissing()) found('no other pod is touched', detail);
  return left.length === 0 ? world.clock.now() - fromMs : undefined;
}

/** The pods go, then the agent stops: nothing is left. */
async function letGo({ world, found, seed }: PartsRun, stage: Stage): Promise<void> {
  const { run, objectAgent, managers, reflector, mirrorAgent, readings } = stage;
  // the other seeds stop with everything still registered
  if (seed % 2 === 1) {
    objectAgent.letGoOfAll();
    const withinMs = (world.noticedWithinLooks - 1) * lookEveryMs;
    const open = await run.settlesWithin(withinMs, lookEveryMs, async () => objectAgent.unnamedWatches());
    for (const watch of open) found('no watch is open for what no pod names', watch);
  }
  await Promise.all([...managers.map((manager) => manager.stop()), reflector.stop(), mirrorAgent.stop()]);
  await run.pause(0);
  for (const read of readings.underWay) found('a read settles', `${read}, seed ${seed}`);
  for (const left of await world.leftovers()) found('nothing is left after stop', left);
}

/** A logger that looks for values in what it gets. */
function watchedLogger(found: PartsFound): Logger {
  const look = (fields: object, message: string): void => {
    const { err } = fields as { err?: unknown };
    const text = `${message} ${JSON.stringify(fields)} ${err instanceof Error ? `${err.message} ${err.stack}` : ''}`;
    if (showsValue(text)) found('no value is in a log or an error', message);
  };
  return { debug: look, info: look, warn: look, error: look };
}
