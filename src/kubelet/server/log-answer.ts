import { once } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { openLogs } from '../logs/read-logs.ts';
import { isRuntimeError } from '../runtime/runtime-error.ts';
import { KubeletApiRefusal } from './api-refusal.ts';
import type { Exchange } from './exchange.ts';
import type { KubeletApiHost } from './kubelet-api-host.ts';
import { readLogQuery } from './log-query.ts';
import { hasContainer, loggedContainerID } from './logged-container.ts';
import type { ContainerTarget } from './routes.ts';

/** Where logs come from. */
export interface LogSources {
  readonly host: KubeletApiHost;
  readonly clock: Clock;
}

/** Sends the log of a container as it is read: what the client does not take is not read. Rejects with a refusal until then. */
export async function answerLogs(exchange: Exchange, target: ContainerTarget, query: URLSearchParams, sources: LogSources) {
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
