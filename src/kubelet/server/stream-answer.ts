import type { Pod } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { isRuntimeError } from '../runtime/runtime-error.ts';
import { isRefusal, KubeletApiRefusal } from './api-refusal.ts';
import { answerText, type Exchange } from './exchange.ts';
import type { KubeletApiHost } from './kubelet-api-host.ts';
import { hasContainer, hasTerminal } from './logged-container.ts';
import type { ContainerTarget, PodTarget, Route } from './routes.ts';
import { proxyStream, type StreamLimits } from './stream-proxy.ts';
import { readPorts, readStreamQuery } from './stream-query.ts';

type StreamRoute = Extract<Route, { kind: 'exec' | 'attach' | 'port-forward' }>;

/** Passes a stream to the runtime. Rejects with a refusal where none comes about. */
export async function answerStream(
  exchange: Exchange,
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
export async function answerRun(exchange: Exchange, target: ContainerTarget, query: URLSearchParams, host: KubeletApiHost) {
  const { signal } = exchange;
  const id = await runningContainer(host, target, signal);
  const command = (query.get('cmd') ?? '').split(' ');
  const { stdout, stderr, exitCode } = await ofRuntime(() => host.runtime.execSync(id, command, 0, { signal }));
  const output = Buffer.concat([stdout, stderr]).toString();
  if (exitCode !== 0) throw new KubeletApiRefusal(500, `command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
  answerText(exchange, 200, output, { 'content-type': 'application/json' });
}

async function streamURL({ request, signal }: Exchange, route: StreamRoute, query: URLSearchParams, host: KubeletApiHost) {
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
    if (isRefusal(error)) throw error;
    throw new KubeletApiRefusal(isRuntimeError(error, 'not-found') ? 404 : 500, errorText(error));
  }
}
