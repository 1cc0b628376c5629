import { ApiError } from '../client/transport/api-error.ts';
import type { KubeTransport } from '../client/transport/kube-transport.ts';
import { isJsonObject } from '../wire/json.ts';
import type { WirePod } from '../wire/types.ts';
import { isPod, receivedPod } from './received-pod.ts';

/** Which pods: those of one node, in one namespace or in all. */
export interface PodSelection {
  /** `/api/v1/pods`, or a namespace's. */
  readonly path: string;
  readonly nodeName: string;
  readonly namespace?: string | undefined;
}

export interface PodList {
  readonly pods: readonly WirePod[];
  readonly resourceVersion: string;
}

export interface ListPodsOptions {
  readonly signal: AbortSignal;
  /** Called after each page that has come. */
  readonly onPage: () => void;
}

const pageSize = 500;

/**
 * All pods of the selection, as they were at one moment: the list names no resourceVersion, so it shows every write that
 * was acknowledged before it began. Starts over, once, when the server has forgotten that moment between two pages.
 */
export async function listPods(transport: KubeTransport, selection: PodSelection, options: ListPodsOptions): Promise<PodList> {
  try {
    return await listPages(transport, selection, options);
  } catch (error) {
    if (!isGone(error)) throw error;
    return listPages(transport, selection, options);
  }
}

async function listPages(transport: KubeTransport, { path, nodeName }: PodSelection, options: ListPodsOptions): Promise<PodList> {
  const pods: WirePod[] = [];
  const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName}`, limit: String(pageSize) });
  for (;;) {
    const page = await transport.request({ method: 'GET', path, query, signal: options.signal });
    const { items, metadata } = page;
    if (!isJsonObject(metadata) || typeof metadata.resourceVersion !== 'string') throw notPods(path);
    // Go writes an empty list as null
    if (items !== null && !Array.isArray(items)) throw notPods(path);
    for (const item of items ?? []) {
      if (!isPod(item)) throw notPods(path);
      pods.push(receivedPod(item));
    }
    options.onPage();
    if (typeof metadata.continue !== 'string' || metadata.continue === '')
      return { pods, resourceVersion: metadata.resourceVersion };
    query.set('continue', metadata.continue);
  }
}

function notPods(path: string): ApiError {
  return new ApiError({ status: 200, reason: 'BrokenAnswer', message: `GET ${path}: the answer is not a list of pods` });
}

/** The resourceVersion (or the continue token that holds one) is older than what the server remembers. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 410;
}
