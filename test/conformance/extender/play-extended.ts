import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logging/logger.ts';
import { prioritizeNodes, SchedulingAlgorithm } from '../../../src/scheduler/cycle/algorithm.ts';
import { extenderName, findNodesAwaited } from '../../../src/scheduler/cycle/awaited-search.ts';
import { extendersOption } from '../../../src/scheduler/extenders/extender-options.ts';
import { ExtenderSet } from '../../../src/scheduler/extenders/extender-set.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { FitError } from '../../../src/scheduler/framework/fit-error.ts';
import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { PluginRejection } from '../../../src/scheduler/framework/plugin.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { serveLocally } from '../../support/serve-locally.ts';
import { frameworkOf } from '../filter-score/cluster.ts';
import type { RecordedFailure } from '../scheduling/recorded-cluster.ts';
import type { ExtendedCase, ExtendedOutcome } from './extended-case.ts';

/** Tries to place the pod of the case, with extenders on this machine. */
export async function playExtended(given: ExtendedCase): Promise<ExtendedOutcome> {
  const asked: string[] = [];
  const listener: RequestListener = (request, response) => {
    void text(request).then((body) => {
      const [number = '', verb = ''] = (request.url ?? '').slice(1).split('/');
      const { NodeNames } = JSON.parse(body) as { readonly NodeNames: readonly string[] };
      asked.push(`${number}/${verb}: ${NodeNames.toSorted().join(' ')}`);
      const answer = given.extenders[Number(number)]?.answers[verb];
      response.writeHead(answer?.status ?? 500).end(answer?.body);
    });
  };
  await using server = await serveLocally(listener);
  const options = given.extenders.map(({ answers: _answers, ...one }, index) => ({
    ...{ ...one, urlPrefix: `${server.url}${index}`, httpTimeout: '1m' },
  }));
  const set = new ExtenderSet(extendersOption('extenders', options), {
    clock: systemClock,
    logger: silentLogger,
    guard: () => {},
  });
  const context = { extendersOf: () => set.with([]), ignoredResources: set.ignoredResources };
  try {
    return await attempt(given, frameworkOf(given, context), asked);
  } finally {
    await set.close();
  }
}

async function attempt(given: ExtendedCase, framework: Framework, asked: string[]): Promise<ExtendedOutcome> {
  const pod = createPodInfo(given.pod);
  const state = new CycleState();
  const { signal } = new AbortController();
  const search = { algorithm: new SchedulingAlgorithm(), framework, pod, state, signal };
  const found = await findNodesAwaited(search).catch(() => undefined);
  if (found === undefined) return { asked, error: true };
  const { feasible, diagnosis } = found;
  const out: ExtendedOutcome = {
    ...{ asked, error: false, feasible: feasible.map(({ name }) => name).sort() },
    failed: Object.fromEntries([...diagnosis.failures].map(([name, failure]) => [name, failureOf(failure)])),
    rejectors: [...diagnosis.rejectors].sort(),
  };
  if (feasible.length === 0) return { ...out, message: new FitError(pod.pod, diagnosis).message };
  if (feasible.length === 1) return out;
  const filtered = asked.length;
  const { totals } = prioritizeNodes(framework, state, pod, feasible);
  const added = await framework.extenders.prioritize(pod, feasible, signal);
  const sums = feasible.map(({ name }, index) => [name, (totals[index] ?? 0) + (added[index] ?? 0)] as const);
  return { ...out, asked: [...asked.slice(0, filtered), ...asked.slice(filtered).sort()], totals: Object.fromEntries(sums) };
}

/** Upstream names no plugin where an extender has refused a node. */
function failureOf({ plugin, code, reasons }: PluginRejection): RecordedFailure {
  return { ...(plugin !== extenderName && { plugin }), code, reasons };
}
