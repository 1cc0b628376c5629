import type { Pod } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { type ApiExchange, answerText, isApiRefusal, KubeletApiRefusal } from '../../node/server/exchange.ts';
import { hasContainer, hasTerminal } from '../../node/server/named-containers.ts';
import type { ContainerTarget, PodTarget, StreamRoute } from '../../node/server/routes.ts';
import { readPorts, readStreamQuery } from '../../node/server/stream-query.ts';
import { isRuntimeError } from '../runtime/container-runtime.ts';
import type { KubeletApiHost } from './api-options.ts';
import { proxyStream, type StreamLimits } from './stream-proxy.ts';

/** Passes a stream to the runtime. Rejects with a refusal where none comes about. */
export async function answerStream(
  exchange: ApiExchange,
  route: StreamRoute,
  query: URLSearchParams,
  host: KubeletApiHost,
  limits: StreamLimits,
): Promise<void> {
  const url = await ofRuntime(() => streamURL(exchange, route, query, host));
  if (exchange.upgrade === undefined) throw new KubeletApiRefusal(400, 'Upgrade request required');
  if (!URL.canParse(url)) throw new KubeletApiRefusal(500, 'the runtime gave no URL of a stream');
  await proxyStream(exchange, new URL(url), limits);
}

/** Runs a command and answers what it wrote. */
export async function answerRun(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams, host: KubeletApiHost) {
  const { signal } = exchange;
  const id = await runningContainer(host, target, signal);
  const command = (query.get('cmd') ?? '').split(' ');
  const { stdout, stderr, exitCode } = await ofRuntime(() => host.runtime.execSync(id, command, 0, { signal }));
  const output = Buffer.concat([stdout, stderr]).toString();
  if (exitCode !== 0) throw new KubeletApiRefusal(500, `command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
  answerText(exchange, 200, output, { 'content-type': 'application/json' });
}

async function streamURL({ request, signal }: ApiExchange, route: StreamRoute, query: URLSearchParams, host: KubeletApiHost) {
  if (route.kind === 'port-forward') {
    const ports = readPorts(request, query);
    const pod = podOf(host, route.target);
    const sandboxID = await host.sandboxID(pod, signal);
    if (sandboxID === undefined) throw new KubeletApiRefusal(500, `pod not found ("${fullName(route.target)}")`);
    return host.runtime.portForward(sandboxID, ports, { signal });
  }
  const { target } = route;
  const stream = readStreamQuery(query);
  const id = await runningContainer(host, target, signal);
  if (route.kind === 'exec') return host.runtime.exec(id, query.getAll('command'), stream, { signal });
  // whether a process has a terminal was decided when it was started
  const tty = hasTerminal(podOf(host, target), target.container);
  return host.runtime.attach(id, { ...stream, tty, stderr: stream.stderr && !tty }, { signal });
}

function podOf(host: KubeletApiHost, { namespace, podName, podUID }: PodTarget): Pod {
  const pod = host.pod(namespace, podName, podUID);
  if (pod === undefined) throw new KubeletApiRefusal(404, 'pod does not exist');
  return pod;
}

async function runningContainer(host: KubeletApiHost, target: ContainerTarget, signal: AbortSignal): Promise<string> {
  const pod = podOf(host, target);
  const { container } = target;
  const id = hasContainer(pod, container) ? await host.runningContainerID(pod, container, signal) : undefined;
  if (id === undefined) throw new KubeletApiRefusal(500, `container not found (${JSON.stringify(container)})`);
  return id;
}

function fullName({ namespace, podName }: PodTarget): string {
  return `${podName}_${namespace}`;
}

async function ofRuntime<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isApiRefusal(error)) throw error;
    throw new KubeletApiRefusal(isRuntimeError(error, 'not-found') ? 404 : 500, errorText(error));
  }
}
