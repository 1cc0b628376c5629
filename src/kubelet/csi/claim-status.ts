// Behaviour of pkg/volume/util/resize_util.go, v1.36.3.

import { formatTime } from '../../api/json/time.ts';
import type { WirePersistentVolumeClaim } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

type ClaimStatus = NonNullable<WirePersistentVolumeClaim['status']>;
type Conditions = NonNullable<ClaimStatus['conditions']>;
type Change = (status: ClaimStatus) => object;

const resizeConditions: ReadonlySet<string> = new Set([
  'FileSystemResizePending',
  'Resizing',
  'ControllerResizeError',
  'NodeResizeError',
]);

/** Writes what the node says of a claim that grows. Each write names the version that it was made against. */
export class ClaimStatuses {
  readonly #claims: ResourceClient<WirePersistentVolumeClaim>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(transport: ResourceTransport, clock: Pick<Clock, 'now'>) {
    this.#claims = new ResourceClient(transport, resources.persistentVolumeClaims);
    this.#clock = clock;
  }

  async read({ metadata }: WirePersistentVolumeClaim, signal?: AbortSignal): Promise<WirePersistentVolumeClaim> {
    return this.#claims.get({ namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }, { signal });
  }

  /** The node begins. */
  markInProgress(claim: WirePersistentVolumeClaim): Promise<WirePersistentVolumeClaim> {
    return this.#patch(claim, () => ({ allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } }));
  }

  /** The node is done: the claim has this much. */
  markFinished(claim: WirePersistentVolumeClaim, size: string): Promise<WirePersistentVolumeClaim> {
    return this.#patch(claim, ({ conditions }) => ({
      capacity: { storage: size },
      allocatedResourceStatuses: { storage: null },
      conditions: (conditions ?? []).filter(({ type }) => !resizeConditions.has(type)),
    }));
  }

  /** The driver has refused. `isInfeasible`: the controller is to try another size. */
  markFailed(claim: WirePersistentVolumeClaim, error: unknown, isInfeasible: boolean): Promise<WirePersistentVolumeClaim> {
    return this.#patch(claim, ({ conditions }) => ({
      ...(isInfeasible && { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
      conditions: this.#withFailure(conditions ?? [], error),
    }));
  }

  #withFailure(conditions: Conditions, error: unknown): Conditions {
    if (conditions.some(({ type, status }) => type === 'NodeResizeError' && status === 'True')) return conditions;
    const lastTransitionTime = formatTime(this.#clock.now());
    const message = `failed to expand pvc with ${errorText(error)}`;
    const failure = { type: 'NodeResizeError', status: 'True', lastTransitionTime, message };
    return [...conditions.filter(({ type }) => type !== 'NodeResizeError'), failure] as Conditions;
  }

  /** Where somebody else was first it rejects: what is to be done may be another thing now. */
  async #patch({ metadata, status }: WirePersistentVolumeClaim, change: Change): Promise<WirePersistentVolumeClaim> {
    const { namespace = '', name = '', resourceVersion } = metadata ?? {};
    const body = { metadata: { resourceVersion }, status: change(status ?? {}) };
    const patch = { type: 'application/merge-patch+json', body } as const;
    return this.#claims.patch({ namespace, name, subresource: 'status' }, patch).catch((cause: unknown) => {
      throw new Error(`patchPVCStatus failed to patch PVC ${JSON.stringify(name)}: ${errorText(cause)}`, { cause });
    });
  }
}
