import { untilAborted } from '../../base/concurrency/aborts.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { type ApiExchange, KubeletApiRefusal } from '../server/exchange.ts';
import { hasTerminal } from '../server/named-containers.ts';
import type { PodTarget, StreamRoute } from '../server/routes.ts';
import { namedPorts, readStreamQuery } from '../server/stream-query.ts';
import { acceptPortForward } from '../streams/accept-port-forward.ts';
import { acceptStreams } from '../streams/accept-streams.ts';
import type { ForwardedConnection, PortForwardSession, StreamEnd } from '../streams/container-streams.ts';
import { StreamRefusal, type UpgradeRequest } from '../streams/upgrade-request.ts';
import type { ClientCalls, ClientMethod } from './client-calls.ts';
import type { NodePod } from './pod-provider.ts';
import { shortErrorText } from './provider-calls.ts';

/** Connects a client that switches to another protocol with what the provider runs. Rejects with a refusal where that does not come about. */
export async function answerProviderStream(
  exchange: ApiExchange,
  route: StreamRoute,
  query: URLSearchParams,
  calls: ClientCalls,
  idleTimeoutMs: number,
): Promise<void> {
  const limits = { clock: calls.clock, idleTimeoutMs };
  if (route.kind === 'port-forward') return forwardPorts(exchange, route.target, query, calls, limits);
  const { target } = route;
  const method = route.kind === 'exec' ? 'runInContainer' : 'attachToContainer';
  calls.require(method);
  const pod = calls.podWith(target);
  const stream = readStreamQuery(query);
  const command = query.getAll('command');
  if (route.kind === 'exec' && command.length === 0) throw new KubeletApiRefusal(400, 'query parameter "command" is required');
  // whether a process has a terminal was decided when it was started
  const tty = route.kind === 'exec' ? stream.tty : hasTerminal(pod, target.container);
  const asked = { ...stream, tty, stderr: stream.stderr && !tty };
  const { provider } = calls;
  await accepted(exchange, async (upgrade) => {
    const session = await acceptStreams(upgrade, asked, limits);
    const { streams, signal } = session;
    const call = (): Promise<number | undefined> | undefined =>
      route.kind === 'exec'
        ? provider.runInContainer?.(pod, target.container, command, streams, { signal })
        : provider.attachToContainer?.(pod, target.container, streams, { signal });
    const work = calls.answer(method, pod, call, signal);
    await session.end(await endOf(method, untilAborted(work, signal)));
    await work.catch(ignoreFailure);
  });
}

/** An upgrade with the refusals of the API. */
async function accepted({ request, response, upgrade, signal }: ApiExchange, accept: (upgrade: UpgradeRequest) => Promise<void>) {
  if (upgrade === undefined) throw new KubeletApiRefusal(400, 'Upgrade request required');
  try {
    await accept({ request, response, head: upgrade, signal });
  } catch (error) {
    if (!(error instanceof StreamRefusal)) throw error;
    // the protocol was switched, and the client has gone before its streams were there
    if (error.status === undefined) return void request.socket.destroy();
    throw new KubeletApiRefusal(error.status, error.message, error.headers);
  }
}

async function endOf(method: ClientMethod, work: Promise<unknown>): Promise<StreamEnd> {
  try {
    const exitCode = (await work) ?? 0;
    if (typeof exitCode === 'number' && Number.isInteger(exitCode)) return { exitCode };
    return { error: `${method}() of the provider answered with no exit code` };
  } catch (error) {
    return { error: shortErrorText(error) };
  }
}

async function forwardPorts(
  exchange: ApiExchange,
  target: PodTarget,
  query: URLSearchParams,
  calls: ClientCalls,
  limits: Parameters<typeof acceptPortForward>[2],
): Promise<void> {
  calls.require('portForward');
  const pod = calls.pod(target, 'pod does not exist');
  const ports = namedPorts(query);
  await accepted(exchange, async (upgrade) => {
    const session = await acceptPortForward(upgrade, ports.length === 0 ? undefined : ports, limits);
    const open = new Set<Promise<void>>();
    try {
      for await (const connection of session.connections) {
        const work: Promise<void> = forward(connection, pod, session, calls).finally(() => open.delete(work));
        open.add(work);
      }
    } finally {
      await session.end();
    }
    await Promise.all(open);
  });
}

/** Never rejects. */
async function forward(
  { port, stream, fail }: ForwardedConnection,
  pod: NodePod,
  session: PortForwardSession,
  calls: ClientCalls,
) {
  const { signal } = session;
  try {
    await calls.answer('portForward', pod, () => calls.provider.portForward?.(pod, port, stream, { signal }), signal);
    stream.end();
  } catch (error) {
    if (!signal.aborted) fail(`error forwarding port ${port} to pod ${pod.metadata.name}: ${shortErrorText(error)}`);
  }
}
