// `npm start`: pods live whole lives, and status managers write their statuses to an apiserver. There are three kinds of run: a
// virtual node, with `--node` a whole node agent over a container runtime, with `--schedule` a scheduler over several virtual
// nodes. This file is the course of all of them. A fourth one, `--fleet`, is several processes, and has a course of its own.
import { KubePodClient } from 'pod-status-manager';
import { agentRun } from './agent/agent-run.ts';
import { CountingPodClient } from './counting-pod-client.ts';
import { type DebugPage, openDebugPage } from './debug-page.ts';
import { Breaker } from './faults/breaker.ts';
import { runFleetDemo } from './fleet/fleet-demo.ts';
import { help, usage } from './help.ts';
import { describeError, Journal } from './journal.ts';
import { type Compared, emptied, judge, settled } from './judge.ts';
import { type DemoOptions, defaultFleetSeconds, defaultSeconds, parseOptions, type RunKind, UsageError } from './options.ts';
import type { DemoRun, RunContext } from './run.ts';
import { scheduleRun } from './schedule/schedule-run.ts';
import { openScreen, type Screen } from './screen.ts';
import { Statuses } from './statuses.ts';
import { summarize } from './summary.ts';
import { type Picture, renderLines, renderView, texts } from './view.ts';
import { virtualRun } from './virtual/virtual-run.ts';
import { openWorld } from './world.ts';

type KindHere = Exclude<RunKind, 'fleet'>;

const makers = { virtual: virtualRun, node: agentRun, schedule: scheduleRun };
const longestStartMs = 10_000;

interface Interrupts {
  /** Aborted by the first Ctrl-C: the run ends early. */
  readonly ending: AbortSignal;
  /** Aborted by the second Ctrl-C: the run waits for nothing more. */
  readonly hurrying: AbortSignal;
}

/** A run from the server to the clean-up. Resolves to true when the server says what the managers say, and nothing is left. */
export async function runDemo(options: DemoOptions, screen: Screen, interrupts: Interrupts): Promise<boolean> {
  const { kind } = options;
  if (kind !== 'fleet') return runHere(options, kind, screen, interrupts);
  return runFleetDemo(options, options.seconds ?? (screen.isTerminal ? undefined : defaultFleetSeconds), screen, interrupts);
}

async function runHere(options: DemoOptions, kind: KindHere, screen: Screen, interrupts: Interrupts): Promise<boolean> {
  const print = (line: string, isBad = false): void => screen.print(isBad ? screen.paint('red', line) : line);
  if (options.server.kind === 'control-plane') print('starting etcd and kube-apiserver ...');
  const world = await openWorld(options);
  let ok = false;
  try {
    const seconds = options.seconds ?? (screen.isTerminal ? undefined : defaultSeconds);
    const journal = new Journal();
    const statuses = new Statuses(new CountingPodClient(new KubePodClient(world.transport)), journal);
    const context: RunContext = { options: { ...options, seconds }, world, statuses, journal };
    const run = await makers[kind](context, seconds ?? defaultSeconds);
    for (const node of run.nodes) statuses.watch(node);
    const breaker = new Breaker({ ...run.parts, server: world.memory, owners: run.owners }, journal);
    let page: DebugPage | undefined;
    try {
      page = await openDebugPage(run.nodes, options.debugPort, () => breaker.wrong);
      print(`${run.title}: ${options.pods} pods on the ${world.label}, seed ${options.seed}, namespace ${world.namespace}`);
      print(seconds === undefined ? 'it goes on until Ctrl-C' : `it ends after ${seconds} s`);
      print(page === undefined ? 'there is no debug page: --debug-port is off' : `watch it live: ${page.url}`);
      ok = await playAndJudge(run, context, breaker, screen, interrupts);
    } finally {
      await page?.close();
      ok = (await endRun(run, print, world.isShared)) && ok;
    }
  } finally {
    ok = (await world.close(print)) && ok;
  }
  return ok;
}

/** Starts the run, lets its pods live, lets everything settle, compares, and prints the summary. */
async function playAndJudge(
  run: DemoRun,
  context: RunContext,
  breaker: Breaker,
  screen: Screen,
  { ending, hurrying }: Interrupts,
): Promise<boolean> {
  const { options, world, journal } = context;
  const { breaks, kind, seed, seconds } = options;
  let stage: Picture['stage'] = 'starting';
  let startedAt = performance.now();
  const picture = (): Picture => pictureOf(run, context, breaker, { stage, elapsedMs: performance.now() - startedAt });
  const problems: string[] = [];
  let found: Compared;
  screen.begin({ view: (columns) => renderView(picture(), columns, screen.paint), line: () => renderLines(picture()) });
  try {
    // the nodes would try for ever, but a run that may not register a node, or list pods, has nothing to show
    await start(run, ending);
    stage = 'running';
    startedAt = performance.now();
    const over = seconds === undefined ? ending : AbortSignal.any([ending, AbortSignal.timeout(seconds * 1000)]);
    const plan = { kind, seed, seconds, isInMemory: world.memory !== undefined };
    await Promise.all([run.owners.run(over), run.play?.(over), breaks && breaker.run(plan, over)]);
    stage = 'settling';
    found = await settled(run, context, hurrying);
    problems.push(...breaker.problems, ...(await emptied(run, context, hurrying)));
    stage = 'done';
  } finally {
    screen.end();
  }
  if (hurrying.aborted) problems.push('interrupted before everything had settled');
  const { lines, ok } = summarize(picture(), judge(run, context, found, problems), screen.paint);
  const wentWrong = breaks ? [`went wrong: ${[...breaker.names].join(', ') || 'nothing'}`] : [];
  for (const line of [...journal.examples(), ...wentWrong, ...lines]) screen.print(line);
  return ok;
}

/** What one looks at, at this moment. */
function pictureOf(
  run: DemoRun,
  { options, world, statuses, journal }: RunContext,
  breaker: Breaker,
  now: Pick<Picture, 'stage' | 'elapsedMs'>,
): Picture {
  const { created, recreated, deleted, forced } = run.owners;
  const lives = [
    `${created} pods created`,
    `${recreated} under the name of an earlier one`,
    `${deleted} deleted`,
    `${forced} by force`,
  ];
  return {
    ...now,
    title: [run.title, world.label, `seed ${options.seed}`],
    totalMs: options.seconds === undefined ? undefined : options.seconds * 1000,
    rows: [...statuses.rows(), ['lives', texts(lives)], ...run.rows()],
    wrong: options.breaks ? breaker.wrong : undefined,
    notes: now.stage === 'running' || now.stage === 'settling' ? statuses.notes() : [],
    warnings: journal.warnings,
    events: journal.events,
  };
}

async function start(run: DemoRun, ending: AbortSignal): Promise<void> {
  try {
    await Promise.all(run.nodes.map((node) => node.start({ timeoutMs: longestStartMs, signal: ending })));
    await run.begin?.();
  } catch (error) {
    if (!ending.aborted) throw error;
  }
}

/** Stops everything, and removes the nodes; no timer and no socket is left. Returns false when something of a node is left behind. */
async function endRun(run: DemoRun, print: (line: string, isBad?: boolean) => void, isShared: boolean): Promise<boolean> {
  await run.stop?.();
  const ends = await Promise.all(
    run.nodes.map(async (node) => {
      const { nodeName } = node.snapshot({ pods: false });
      const { node: end } = await node.stop({ drainTimeoutMs: 1000 });
      const left = [...(end.node === 'failed' ? ['Node'] : []), ...(end.lease === 'failed' ? ['Lease'] : [])];
      if (left.length > 0) print(`the ${left.join(' and the ')} ${nodeName} could not be removed`, true);
      else if (isShared && end.node === 'removed') print(`node ${nodeName} and its Lease are removed`);
      return left.length === 0;
    }),
  );
  await run.close?.();
  return ends.every(Boolean);
}

/** Returns the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const [ending, hurrying] = [new AbortController(), new AbortController()];
  const interrupt = (): void => (ending.signal.aborted ? hurrying : ending).abort();
  try {
    const options = parseOptions(argv);
    if (options === 'help') {
      console.log(help);
      return 0;
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
    // the reader of the output has gone: the run ends early and cleans up
    process.stdout.on('error', interrupt);
    const ok = await runDemo(options, openScreen(process.stdout), { ending: ending.signal, hurrying: hurrying.signal });
    return ok ? 0 : 1;
  } catch (error) {
    console.error(describeError(error));
    if (!(error instanceof UsageError)) return 1;
    console.error(`${usage}\nnpm start -- --help says more.`);
    return 2;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
