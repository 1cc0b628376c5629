import { isDeepStrictEqual } from 'node:util';
import type { PodClient, PodStatusPatch } from '../../../src/index.ts';
import type { Call, Scenario } from '../replay/replay-scenario.ts';

/** A manager with a defect, made by what stands between it and the server. */
export interface Defect {
  /** Wraps the client; `acted` is called whenever the defect shows in a request. */
  readonly between: (client: PodClient, acted: () => void) => PodClient;
  /** The recorded calls that a scenario must have for the defect to show in it. */
  readonly needs: (call: Call) => boolean;
}

const isPatch = ({ verb, error }: Call): boolean => verb === 'patch' && !error;
const isFailedPatch = ({ verb, error }: Call): boolean => verb === 'patch' && error !== undefined;
const isDelete = ({ verb, error }: Call): boolean => verb === 'delete' && !error;
const hasLastState = (call: Call): boolean => isPatch(call) && JSON.stringify(call.patch).includes('"lastState":{"terminated"');

export const defects = {
  'writes a wrong podIP': { needs: isPatch, between: changingPatches(withWrongPodIP) },
  'writes times with milliseconds': { needs: isPatch, between: changingPatches(withMilliseconds) },
  'loses the last states of containers': { needs: hasLastState, between: changingPatches(withoutLastStates) },
  'names no uid': { needs: isPatch, between: changingPatches(withoutUID) },
  'takes every PATCH for done': { needs: isPatch, between: (client, acted) => takingPatchesForDone(client, acted, () => true) },
  'takes every DELETE for done': { needs: isDelete, between: takingDeletesForDone },
  'deletes with a grace period': { needs: isDelete, between: deletingGracefully },
  'writes a wrong podIP when it tries again': {
    needs: isFailedPatch,
    between: (client, acted) => changingRetries(client, acted),
  },
  'takes a PATCH for done when it tries again': {
    needs: isFailedPatch,
    between: (client, acted) => {
      const failed = new Set<string>();
      return takingPatchesForDone(noting(client, failed), acted, (pod) => failed.has(pod));
    },
  },
} satisfies Record<string, Defect>;

/** True when something is recorded of the scenario in which the defect can show. */
export function canShow({ needs }: Defect, { steps }: Scenario): boolean {
  return steps.some(({ expect }) => (expect.calls ?? []).some(needs));
}

function same(client: PodClient): PodClient {
  return {
    getPod: (...request) => client.getPod(...request),
    patchPodStatus: (...request) => client.patchPodStatus(...request),
    deletePod: (...request) => client.deletePod(...request),
  };
}

type PatchChange = (patch: PodStatusPatch) => PodStatusPatch;

function changingPatches(change: PatchChange): Defect['between'] {
  return (client, acted) => ({
    ...same(client),
    patchPodStatus: (namespace, name, patch, options) => {
      const changed = change(patch);
      if (!isDeepStrictEqual(changed.body, patch.body)) acted();
      return client.patchPodStatus(namespace, name, changed, options);
    },
  });
}

/** Remembers the pods of which the last PATCH failed. */
function noting(client: PodClient, failed: Set<string>): PodClient {
  return {
    ...same(client),
    patchPodStatus: async (namespace, name, patch, options) => {
      const pod = `${namespace}/${name}`;
      failed.add(pod);
      const metadata = await client.patchPodStatus(namespace, name, patch, options);
      failed.delete(pod);
      return metadata;
    },
  };
}

function changingRetries(client: PodClient, acted: () => void): PodClient {
  const failed = new Set<string>();
  const inner = noting(client, failed);
  const changing = changingPatches(withWrongPodIP)(inner, acted);
  return {
    ...inner,
    patchPodStatus: (namespace, name, patch, options) =>
      (failed.has(`${namespace}/${name}`) ? changing : inner).patchPodStatus(namespace, name, patch, options),
  };
}

function takingPatchesForDone(client: PodClient, acted: () => void, isTaken: (pod: string) => boolean): PodClient {
  return {
    ...same(client),
    patchPodStatus: async (namespace, name, patch, options) => {
      if (!isTaken(`${namespace}/${name}`)) return client.patchPodStatus(namespace, name, patch, options);
      acted();
      const { metadata } = await client.getPod(namespace, name, options);
      return { uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' };
    },
  };
}

function takingDeletesForDone(client: PodClient, acted: () => void): PodClient {
  return {
    ...same(client),
    deletePod: async (_namespace, _name, { uid }) => {
      acted();
      return { uid, resourceVersion: '1' };
    },
  };
}

function deletingGracefully(client: PodClient, acted: () => void): PodClient {
  return {
    ...same(client),
    deletePod: (namespace, name, options) => {
      acted();
      return client.deletePod(namespace, name, { ...options, gracePeriodSeconds: 30 });
    },
  };
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

function withWrongPodIP({ type, body }: PodStatusPatch): PodStatusPatch {
  const podIP = '192.0.2.99';
  if (Array.isArray(body)) return { type, body: [...body, { op: 'add', path: '/status/podIP', value: podIP }] };
  const { status } = body as { status?: object };
  return { type, body: { ...(body as object), status: { ...status, podIP } } };
}

function withMilliseconds(patch: PodStatusPatch): PodStatusPatch {
  const precise = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/(T\d\d:\d\d:\d\d)Z"/g, '$1.000Z"'));
  return mapped(patch, (operation) => ({ ...operation, value: precise(operation.value) }), precise);
}

function withoutLastStates(patch: PodStatusPatch): PodStatusPatch {
  const lossy = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, inner) => (key === 'lastState' ? {} : inner));
  const isEmpty = (value: unknown): boolean => JSON.stringify(value) === '{}';
  const ofOperation = (operation: Operation): Operation | undefined => {
    if (operation.path.includes('/lastState')) return isEmpty(operation.value) ? operation : undefined;
    return { ...operation, value: lossy(operation.value) };
  };
  return mapped(patch, ofOperation, lossy);
}

function withoutUID({ type, body }: PodStatusPatch): PodStatusPatch {
  if (Array.isArray(body)) return { type, body: body.filter(({ path }: Operation) => path !== '/metadata/uid') };
  const { uid: _, ...metadata } = (body as { metadata: { uid?: string } }).metadata;
  return { type, body: { ...(body as object), metadata } };
}

/** The patch with its operations, or its status, changed; what a JSON Patch tests stays as it is. */
function mapped(
  { type, body }: PodStatusPatch,
  ofOperation: (operation: Operation) => Operation | undefined,
  ofStatus: (status: unknown) => unknown,
): PodStatusPatch {
  if (!Array.isArray(body)) {
    const { status } = body as { status?: unknown };
    return { type, body: { ...(body as object), ...(status !== undefined && { status: ofStatus(status) }) } };
  }
  const changed = body.map((operation: Operation) =>
    operation.op === 'test' || operation.value === undefined ? operation : ofOperation(operation),
  );
  return { type, body: changed.filter((operation) => operation !== undefined) };
}
