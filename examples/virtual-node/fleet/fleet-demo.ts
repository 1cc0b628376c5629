import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { statusOf } from '../admin-client.ts';
import { describeError, Journal } from '../journal.ts';
import type { DemoOptions } from '../options.ts';
import { pause } from '../pause.ts';
import { Random } from '../random.ts';
import type { Screen } from '../screen.ts';
import { type Picture, type Row, renderLines, renderView, textRows } from '../view.ts';
import { openWorld, type World } from '../world.ts';
import { FleetCloud } from './fleet-cloud.ts';
import { FleetPods } from './fleet-pods.ts';
import { memberPiece } from './member-piece.ts';
import { Members } from './members.ts';

/** Shorter than the default, so that one sees what happens. */
const leaseDurationMs = 5_000;
const shards = 32;
const longestMs = 60_000;
/** So often something happens to a pod in the cloud. */
const changeEveryMs = 20;
const shownAtMost = 10;

/** The signals of a run, as `main.ts` has them. */
export interface FleetInterrupts {
  readonly ending: AbortSignal;
  readonly hurrying: AbortSignal;
}

/** All parts of a run. */
interface Parts {
  readonly options: DemoOptions;
  readonly world: World;
  readonly cloud: FleetCloud;
  readonly members: Members;
  readonly pods: FleetPods;
  readonly nodes: readonly string[];
  readonly journal: Journal;
}

/** A run of several processes that share virtual nodes. Resolves to true when no status is lost, doubled or older than before. */
export async function runFleetDemo(
  options: DemoOptions,
  seconds: number | undefined,
  screen: Screen,
  signals: FleetInterrupts,
): Promise<boolean> {
  if (options.server.kind === 'control-plane') screen.print('starting etcd and kube-apiserver ...');
  const world = await openWorld(options);
  const folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  const kubeconfig = join(folder, 'kubeconfig');
  let ok = false;
  try {
    await writeFile(kubeconfig, world.kubeConfig.exportConfig(), { mode: 0o600 });
    const nodes = Array.from({ length: options.nodes }, (_, index) => `fleet-${world.runID}-${String(index).padStart(3, '0')}`);
    const journal = new Journal();
    const random = new Random(options.seed);
    const cloud = new FleetCloud(random.seed(), ({ uid, nodeName }) => members.tell({ kind: 'changed', uid, nodeName }));
    const settings = { kubeconfig, fleet: 'demo', namespace: world.namespace, nodes, shards, leaseDurationMs };
    const note = (event: string): void => journal.event(event);
    const warn = (text: string): void => journal.warn({}, text);
    const members = new Members({ cloud, warn, settings, count: options.members, debugPort: options.debugPort, random, note });
    const parts: Parts = { options, world, cloud, members, pods: new FleetPods(world, nodes), nodes, journal };
    try {
      ok = await playFleet(parts, seconds, random, screen, signals);
    } finally {
      await parts.pods.stop();
      await members.kill();
      if (world.isShared) ok = (await removeNodes(parts, screen)) && ok;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    ok = (await world.close((line) => screen.print(line))) && ok;
  }
  return ok;
}

async function playFleet(
  parts: Parts,
  seconds: number | undefined,
  random: Random,
  screen: Screen,
  { ending, hurrying }: FleetInterrupts,
): Promise<boolean> {
  const { options, world, cloud, members, pods, nodes } = parts;
  const page = await members.page();
  screen.print(
    `a fleet of ${options.members} processes: ${nodes.length} nodes and ${options.pods} pods on the ${world.label}, seed ${options.seed}, namespace ${world.namespace}`,
  );
  screen.print(seconds === undefined ? 'it goes on until Ctrl-C' : `it ends after ${seconds} s`);
  screen.print(page === undefined ? 'there is no debug page: --debug-port is off' : `watch it live: ${page}`);
  let stage: Picture['stage'] = 'starting';
  let startedAt = performance.now();
  const picture = (): Picture => pictureOf(parts, seconds, { stage, elapsedMs: performance.now() - startedAt });
  const problems: string[] = [];
  let lost: Awaited<ReturnType<FleetPods['lost']>>;
  let last: Picture | undefined;
  // what was there at the end stays: the members leave afterwards
  const shown = (): Picture => last ?? picture();
  screen.begin({ view: (columns) => renderView(shown(), columns, screen.paint), line: () => renderLines(shown()) });
  const changes = setInterval(() => cloud.changeOne(), changeEveryMs);
  try {
    const isServed = (): boolean =>
      members.running === nodes.length && members.all.every(({ state }) => state?.isMember === true);
    if (!(await waitUntil(isServed, ending)))
      problems.push(`${members.running} of ${nodes.length} nodes were served after the start`);
    await pods.begin(options.pods);
    [stage, startedAt] = ['running', performance.now()];
    const over = seconds === undefined ? ending : AbortSignal.any([ending, AbortSignal.timeout(seconds * 1000)]);
    await Promise.all([members.breakUntil(over), pods.live(random, over)]);
    stage = 'settling';
    clearInterval(changes);
    if (!(await waitUntil(isServed, hurrying)))
      problems.push(`${members.running} of ${nodes.length} nodes are served at the end`);
    lost = await settledPods(parts, hurrying);
    stage = 'done';
    last = picture();
    await members.stop();
  } finally {
    clearInterval(changes);
    screen.end();
  }
  if (hurrying.aborted) problems.push('interrupted before everything had settled');
  return summarizeFleet(parts, last, lost, problems, screen);
}

/** Waits until the server says what the cloud says, at most for a while. */
async function settledPods({ pods, cloud }: Parts, hurrying: AbortSignal): ReturnType<FleetPods['lost']> {
  const deadline = performance.now() + longestMs;
  for (;;) {
    const found = await pods.lost(cloud);
    if (found.lost.length === 0 || performance.now() > deadline || !(await pause(200, hurrying))) return found;
  }
}

async function waitUntil(isTrue: () => boolean, over: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + longestMs;
  while (!isTrue()) {
    if (performance.now() > deadline || !(await pause(100, over))) return over.aborted || isTrue();
  }
  return true;
}

function pictureOf(
  { options, world, cloud, members, pods, nodes, journal }: Parts,
  seconds: number | undefined,
  now: Pick<Picture, 'stage' | 'elapsedMs'>,
): Picture {
  const { killed, stopped, frozen } = members.counts;
  const served = Math.min(nodes.length, members.running);
  const rows: Row[] = [
    ['members', members.all.map(memberPiece)],
    ['nodes', [{ text: `${served} of ${nodes.length} served`, style: served === nodes.length ? 'green' : 'yellow' }]],
    [
      'pods',
      [
        { text: String(cloud.pods.length), style: 'bold' },
        ...[
          `${cloud.created} created`,
          `${cloud.deleted} deleted`,
          `${cloud.changes} changes`,
          `${pods.statuses} statuses seen`,
        ].map((text) => ({ text })),
      ],
    ],
    [
      'broken',
      [`${killed} killed`, `${stopped} stopped`, `${frozen} frozen`, `${members.started} started`].map((text) => ({ text })),
    ],
  ];
  return {
    ...now,
    title: [`fleet of ${options.members}`, world.label, `seed ${options.seed}`],
    totalMs: seconds === undefined ? undefined : seconds * 1000,
    rows,
    wrong: undefined,
    notes: members.all.flatMap(({ id, state }) => (state?.notes ?? []).map((text) => `${id}: ${text}`)),
    warnings: journal.warnings,
    events: journal.events,
  };
}

/** Prints how the run has ended. True when all is well. */
function summarizeFleet(
  { cloud, pods, journal }: Parts,
  picture: Picture,
  { compared, lost }: Awaited<ReturnType<FleetPods['lost']>>,
  problems: readonly string[],
  screen: Screen,
): boolean {
  const { paint } = screen;
  const none = compared === 0 ? ['no pod was compared'] : [];
  const verdicts = [
    ['lost statuses', lost],
    ['doubled', cloud.doubled],
    ['back in time', pods.backInTime],
  ] as const;
  const all = [...problems, ...none];
  const ok = all.length === 0 && verdicts.every(([, found]) => found.length === 0);
  const row = (label: string, text: string): string => `${paint('dim', label.padEnd(15))}${text}`;
  const bad = (lines: readonly string[]): string[] => [
    ...lines.slice(0, shownAtMost).map((line) => paint('red', `  ${line}`)),
    ...(lines.length > shownAtMost ? [paint('red', `  and ${lines.length - shownAtMost} more`)] : []),
  ];
  const lines = [
    paint('bold', 'Summary'),
    ...textRows(picture.rows).map(([label, text]) => row(label, text)),
    ...(journal.warned > 0 ? [row('warnings', `${journal.warned}, the last one: ${journal.warnings.at(-1)}`)] : []),
    row('compared', `${compared} pods on the server with what runs in the cloud`),
    ...verdicts.flatMap(([label, found]) => [
      row(label, paint(found.length === 0 ? 'green' : 'red', String(found.length))),
      ...bad(found),
    ]),
    ...bad(all),
    ok
      ? paint(
          'green',
          'The server says what runs: no status was lost, no pod was created twice, and no status went back in time.',
        )
      : paint('red', 'Not all is well.'),
  ];
  for (const line of lines) screen.print(line);
  return ok;
}

/** Removes the nodes from a user's cluster, with their Leases. Those of the fleet go with the namespace. */
async function removeNodes({ world, nodes }: Parts, screen: Screen): Promise<boolean> {
  const left: string[] = [];
  const remove = async (name: string): Promise<void> => {
    try {
      await unlessThere(new ResourceClient(world.transport, resources.nodes).delete({ name }));
      await unlessThere(new ResourceClient(world.transport, resources.leases).delete({ namespace: 'kube-node-lease', name }));
    } catch (error) {
      left.push(`node ${name} could not be removed: ${describeError(error)}`);
    }
  };
  for (let from = 0; from < nodes.length; from += 20) await Promise.all(nodes.slice(from, from + 20).map(remove));
  for (const line of left.slice(0, shownAtMost)) screen.print(screen.paint('red', line));
  if (left.length === 0) screen.print(`${nodes.length} nodes and their Leases are removed`);
  return left.length === 0;
}

async function unlessThere(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}
