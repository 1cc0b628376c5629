import type { RunStateName } from '../../base/concurrency/run-state.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import type { Failing } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import { eventsProblems, nodeProblems, type ObservedNode } from '../../node/node-problems.ts';
import { type HelpedKind, helped } from '../../node/problem-help.ts';
import type { MainKubelet } from './main-kubelet.ts';

/** What the agent itself knows. */
export interface OwnState {
  readonly state: RunStateName;
  /** Why it could not start; undefined where it could, or has not tried. */
  readonly startFailure: { readonly error: unknown; readonly at: number } | undefined;
  /** Why `/healthz` is not served; undefined while it is, and where nobody wants it. */
  readonly healthzFailing: Failing | undefined;
}

/** What is wrong with the node itself and with the agent, the most telling first. Empty when all is well. `asked`: what the caller has asked the parts already. */
export function problemsOfAgent(
  kubelet: MainKubelet,
  { state, startFailure, healthzFailing }: OwnState,
  asked: Pick<ObservedNode, 'at' | 'node' | 'sources'>,
): readonly Problem[] {
  if (state !== 'running') return [frozenProblem(problemOfState(state))];
  const { loop } = kubelet;
  const runtime = runtimeProblems(kubelet);
  const { shutdown } = kubelet.node;
  const lastIterationAt = loop.state === 'running' ? loop.lastIterationAt() : undefined;
  // that the node is not ready is told with its cause
  const isExplained = runtime.length > 0 || shutdown?.isShuttingDown === true;
  const shared = nodeProblems({ ...asked, lastIterationAt }).filter(({ kind }) => kind !== 'not-ready' || !isExplained);
  return [
    ...(startFailure === undefined ? [] : [startProblem(startFailure)]),
    ...clientProblems(kubelet),
    ...(shutdown?.problems() ?? []),
    ...runtime,
    ...shared,
    ...shortageProblems(kubelet),
    ...upkeepProblems(kubelet),
    ...failingProblem(healthzFailing, 'healthz', 'the page /healthz could not be served'),
  ].map((problem) => frozenProblem(problem));
}

function problemOfState(state: Exclude<RunStateName, 'running'>): Problem {
  const message = `the node agent is ${state}`;
  return state === 'idle' ? { ...helped('not-started'), message, attempt: 0 } : { kind: 'stopped', message, attempt: 0 };
}

/** The agent could not start. */
export function startProblem({ error, at }: NonNullable<OwnState['startFailure']>): Problem {
  const { help } = helped(errorCodeOf(error) === 'EADDRINUSE' ? 'port-taken' : 'start');
  return { kind: 'start', message: `the node agent could not start: ${errorText(error)}`, since: at, attempt: 1, help };
}

/** Without a client certificate nothing reaches the apiserver. */
function clientProblems({ options: { given, logger, nodeName: node } }: MainKubelet): Problem[] {
  const failed = (err: unknown): void => logger.error({ err, node }, 'the client certificate cannot be asked for its problem');
  const problem = callGuarded(() => given.clientCertificate?.problem(), failed);
  return problem === undefined ? [] : [problem];
}

function runtimeProblems({ node, pleg }: MainKubelet): Problem[] {
  const { runtimeWatch } = node;
  const [down, network] = [runtimeWatch.trouble(), runtimeWatch.networkTrouble()];
  if (down !== undefined) {
    return [{ ...down, ...helped('runtime-down'), message: `the container runtime is not well: ${down.message}` }];
  }
  const found: Problem[] = [];
  const hasAnswered = runtimeWatch.version !== undefined;
  if (!hasAnswered) {
    found.push({ ...helped('runtime-down'), message: 'the container runtime has not said yet how it is', attempt: 0 });
  }
  if (network !== undefined) {
    found.push({ ...network, ...helped('network-not-ready'), message: `pods get no network: ${network.message}` });
  }
  const { ok, message } = pleg.healthy();
  if (!ok && hasAnswered) {
    const text = `the container runtime does not list its pods: ${message}`;
    found.push({ ...helped('runtime-silent'), message: text, attempt: 0 });
  }
  return found;
}

function shortageProblems({ garbageCollection }: MainKubelet): Problem[] {
  return garbageCollection.shortages().map(({ pressure, message, since }) => {
    const text = `the node runs short of ${pressure === 'pid' ? 'processes' : pressure}: ${message}`;
    return { ...helped(`${pressure}-pressure`), message: text, since, attempt: 0 };
  });
}

function failingProblem(failing: Failing | undefined, kind: HelpedKind, what: string): Problem[] {
  return failing === undefined ? [] : [{ ...failing, ...helped(kind), message: `${what}: ${failing.message}` }];
}

/** What the agent does beside running pods. */
function upkeepProblems({
  garbageCollection,
  limitGroups,
  classUpdates,
  cleanup,
  clients,
  api,
  plugins,
  imageCredentials,
}: MainKubelet): Problem[] {
  const { images, containers, look } = garbageCollection.failing();
  return [
    ...failingProblem(images, 'image-gc', 'unused images could not be removed'),
    ...failingProblem(containers, 'container-gc', 'ended containers could not be removed'),
    ...failingProblem(look, 'eviction', 'what the node has left could not be looked at'),
    ...failingProblem(limitGroups.failing, 'cgroups', 'all pods together could not be limited'),
    ...failingProblem(classUpdates.failing, 'cgroups', 'the cgroups of pods could not be brought up to date'),
    ...failingProblem(cleanup.failing, 'clean-up', 'what pods have left could not be removed'),
    ...(plugins?.problems() ?? []),
    ...(imageCredentials?.troubles() ?? []).map(({ name, ...failing }) => {
      const message = `the plugin ${JSON.stringify(name)} gives no credentials for images: ${failing.message}`;
      return { ...failing, ...helped('credential-plugin'), message };
    }),
    ...(api?.problems() ?? []),
    ...eventsProblems(clients.eventsFailing()),
  ];
}
