import { once } from 'node:events';
import type { Pod } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { type ApiExchange, KubeletApiRefusal } from '../../node/server/exchange.ts';
import { readLogQuery } from '../../node/server/log-query.ts';
import { hasContainer } from '../../node/server/named-containers.ts';
import type { ContainerTarget } from '../../node/server/routes.ts';
import { openLogs } from '../logs/read-logs.ts';
import { isRuntimeError } from '../runtime/container-runtime.ts';
import type { KubeletApiHost } from './api-options.ts';

/** Where logs come from. */
export interface LogSources {
  readonly host: KubeletApiHost;
  readonly clock: Clock;
}

/** Sends the log of a container as it is read: what the client does not take is not read. Rejects with a refusal until then. */
export async function answerLogs(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams, sources: LogSources) {
  const { response, signal } = exchange;
  const pieces = await openPieces(target, query, sources, signal);
  try {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
    // who follows a log is to know at once that it is there
    response.flushHeaders();
    for await (const piece of pieces) {
      if (!response.write(piece)) await once(response, 'drain', { signal });
    }
    response.end();
  } finally {
    await pieces.return();
  }
}

async function openPieces(target: ContainerTarget, query: URLSearchParams, { host, clock }: LogSources, signal: AbortSignal) {
  const { previous, ...options } = readLogQuery(query, clock.now());
  const { namespace, podName, container } = target;
  const pod = host.pod(namespace, podName, undefined);
  if (pod === undefined) throw new KubeletApiRefusal(404, `pod ${JSON.stringify(podName)} does not exist`);
  if (!hasContainer(pod, container)) {
    throw new KubeletApiRefusal(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(podName)}`);
  }
  const id = loggedContainerID(pod, container, previous);
  const running = async (): Promise<boolean> => {
    try {
      return (await host.runtime.containerStatus(id, { signal })).state === 'running';
    } catch (error) {
      if (isRuntimeError(error, 'not-found')) return false;
      throw error;
    }
  };
  try {
    const { logPath } = await host.runtime.containerStatus(id, { signal });
    return await openLogs(logPath, options, { clock, signal, running });
  } catch (error) {
    throw new KubeletApiRefusal(400, `unable to read the log of container ${JSON.stringify(container)}: ${errorText(error)}`);
  }
}

type Statuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;

/**
 * The runtime's id of the container whose log is shown: the one that runs or ran last, or with `previous` the one before. Throws a
 * refusal with the kubelet's words where there is none (`pkg/kubelet/kubelet_pods.go`, validateContainerLogStatus).
 */
export function loggedContainerID(pod: Pod, name: string, previous: boolean): string {
  const title = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata?.name ?? '')}`;
  const status = statusOf(pod, name);
  if (status === undefined) throw refusal(`${title} is not available`);
  const { running, terminated, waiting } = status.state ?? {};
  const last = status.lastState?.terminated;
  if (previous) return idIn(last?.containerID) ?? refuse(`previous terminated ${title} not found`);
  if (running !== undefined) return idIn(status.containerID) ?? refuse(`${title} is waiting to start - no logs yet`);
  if (terminated !== undefined || last !== undefined) {
    // the next container may not have started: then its log is that of the one before
    return idIn(terminated?.containerID) ?? idIn(last?.containerID) ?? refuse(`${title} is terminated`);
  }
  if (waiting === undefined) throw refusal(`${title} is waiting to start - no logs yet`);
  throw refusal(`${title} is waiting to start: ${waitingText(waiting.reason ?? '')}`);
}

function waitingText(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
}

/** `containerd://ID` without the name of the runtime. */
function idIn(containerID: string | undefined): string | undefined {
  const id = containerID?.slice(containerID.indexOf('://') + 3) ?? '';
  return containerID === undefined || !containerID.includes('://') || id === '' ? undefined : id;
}

function statusOf({ status }: Pod, name: string): Statuses[number] | undefined {
  const all = [status?.containerStatuses, status?.initContainerStatuses, status?.ephemeralContainerStatuses];
  return all.flatMap((statuses) => statuses ?? []).find((container) => container.name === name);
}

function refuse(text: string): never {
  throw refusal(text);
}

function refusal(text: string): KubeletApiRefusal {
  return new KubeletApiRefusal(400, text);
}
