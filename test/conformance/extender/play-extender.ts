import type { IncomingMessage, RequestListener } from 'node:http';
import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Extender } from '../../../src/scheduler/extenders/extender.ts';
import { extendersOption } from '../../../src/scheduler/extenders/extender-options.ts';
import type { NodeInfo } from '../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { createNodeInfo } from '../../support/node-snapshots.ts';
import { serveLocally } from '../../support/serve-locally.ts';
import type { ExtenderCase, ExtenderOutcome, RecordedVictims } from './extender-case.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const prefix = '/prefix/';

/** Asks an extender on this machine every question that the case has a verb for, as our scheduler asks it. */
export async function playExtender(given: ExtenderCase): Promise<ExtenderOutcome> {
  const requests: Record<string, string> = {};
  const listener: RequestListener = (request, response) => {
    void bodyOf(request).then((body) => {
      const { method, url = '', headers } = request;
      const verb = url.slice(prefix.length);
      requests[verb] = `${method} ${url} ${headers['content-type']}\n${body}`;
      const answer = given.answers[verb];
      response.writeHead(answer?.status ?? 500).end(answer?.body);
    });
  };
  await using server = await serveLocally(listener);
  const urlPrefix = new URL(prefix, server.url).href;
  const [options] = extendersOption('extenders', [{ ...given.extender, urlPrefix }]);
  if (options === undefined) throw new Error('no extender');
  const extender = new Extender({ ...options, timeoutMs: 60_000 }, systemClock);
  try {
    return { ...(await ask(given, extender)), requests };
  } finally {
    await extender.close();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function ask(given: ExtenderCase, extender: Extender): Promise<Omit<ExtenderOutcome, 'requests'>> {
  const { options } = extender;
  const pod = createPodInfo(asWatched('Pod', given.pod));
  const infos = given.pods.map((one) => createPodInfo(asWatched('Pod', one)));
  const nodes = given.nodes
    .map((one) => asWatched('Node', one))
    .map((node) =>
      createNodeInfo(
        node,
        infos.filter((info) => info.pod.spec?.nodeName === node.metadata?.name),
      ),
    );
  const { signal } = new AbortController();
  const failed: string[] = [];
  const out: Writable<Omit<ExtenderOutcome, 'requests'>> = {
    ...{ interested: extender.isInterestedIn(pod), failed, nodes: null, refused: null, unresolved: null },
    ...{ scores: {}, weight: 0, victims: {} },
  };
  const step = async (verb: string, work: () => Promise<void>): Promise<void> => {
    if (verb !== '') await work().catch(() => failed.push(verb));
  };
  await step(options.filterVerb, async () => {
    const { feasible, refusals } = await extender.filter(pod, nodes, signal);
    const reasons = (code: string): Record<string, string> =>
      Object.fromEntries(
        [...refusals].filter(([, refusal]) => refusal.code === code).map(([name, { reason }]) => [name, reason]),
      );
    out.nodes = feasible.map(({ name }) => name);
    out.refused = reasons('Unschedulable');
    out.unresolved = reasons('UnschedulableAndUnresolvable');
  });
  await step(options.prioritizeVerb, async () => {
    out.scores = Object.fromEntries(await extender.prioritize(pod, nodes, signal));
    out.weight = options.weight;
  });
  await step(options.preemptVerb, async () => {
    out.victims = await narrowed(given, extender, pod, nodes, infos);
  });
  await step(options.bindVerb, () => extender.bind(pod, nodes[0]?.name ?? '', signal, () => {}));
  return out;
}

/** As a watch of a server brings it: with its type, and with the managers of its fields. */
function asWatched<T extends WirePod | WireNode>(kind: string, object: T): T {
  return { kind, apiVersion: 'v1', ...object, metadata: { managedFields: [{ manager: 'kubectl' }], ...object.metadata } };
}

async function narrowed(
  { victims }: ExtenderCase,
  extender: Extender,
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  infos: readonly PodInfo[],
): Promise<Readonly<Record<string, RecordedVictims>>> {
  const candidates = Object.entries(victims).map(([nodeName, { pods, violations }]) => ({
    nodeName,
    victims: pods.flatMap((uid) => infos.find((info) => info.uid === uid) ?? []),
    budgetViolations: violations,
  }));
  const nodeOf = (name: string): NodeInfo | undefined => nodes.find((node) => node.name === name);
  const left = await extender.narrow(pod, candidates, nodeOf, new AbortController().signal);
  return Object.fromEntries(
    left.map(({ nodeName, victims: pods, budgetViolations }) => [
      nodeName,
      { pods: pods.map(({ uid }) => uid), violations: budgetViolations },
    ]),
  );
}
