import type { JsonObject } from '../../../src/api/json/types.ts';
import type { ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import type { Prng } from '../../random/chaos/prng.ts';
import type { AdminClient } from '../../support/admin-client.ts';
import { objectOf, type ServedPod } from '../../support/answers.ts';
import { type StoredDeviceClaim, storedDeviceClaim } from '../../support/device-claims/device-claim-record.ts';
import { followChanges } from '../../support/follow-changes.ts';

const namespace = 'with-devices';
const driver = 'gpu.test.example.com';
const netDriver = 'net.test.example.com';
const api = '/apis/resource.k8s.io/v1';
const claimsPath = `${api}/namespaces/${namespace}/resourceclaims`;
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
/** So many requests are under way at once. */
const atOnce = 16;
/** So many pods share a claim. */
const podsPerShare = 3;
/** On each node; the first one is large. */
const devicesPerNode = 4;

/** What pods ask for: `net` is a device that every node reaches; `admin` looks at a device that others may have. */
const podKinds = ['one', 'pair', 'prefer', 'shared', 'net', 'admin'] as const;
type PodKind = (typeof podKinds)[number];

const one = (deviceClassName: string, more: JsonObject = {}): JsonObject => ({ exactly: { deviceClassName, ...more } });
const templates: Readonly<Record<string, JsonObject>> = {
  one: one('any'),
  large: one('large'),
  net: one('net'),
  admin: one('any', { adminAccess: true }),
  prefer: {
    firstAvailable: [
      { name: 'best', deviceClassName: 'large' },
      { name: 'other', deviceClassName: 'any' },
    ],
  },
};
const templatesOf: Readonly<Record<PodKind, readonly string[]>> = {
  one: ['one'],
  pair: ['large', 'one'],
  prefer: ['prefer'],
  shared: [],
  net: ['net'],
  admin: ['admin'],
};

export interface DevicePodsOptions {
  readonly admin: AdminClient;
  readonly schedulerName: string;
  readonly nodeNames: readonly string[];
  readonly prng: Prng;
}

/** Pods with claims of devices, more than there are devices for, and what the watches tell of both. */
export class DevicePods implements AsyncDisposable {
  /** How many were ever created. */
  created = 0;
  readonly #options: DevicePodsOptions;
  readonly #pods = new Map<string, ServedPod>();
  readonly #claims = new Map<string, { readonly name: string; readonly stored: StoredDeviceClaim }>();
  /** The names of pods that were asked to go. */
  readonly #leaving = new Set<string>();
  #isOver = false;
  #failure: unknown;

  private constructor(options: DevicePodsOptions) {
    this.#options = options;
    this.#begin(this.#follow<ServedPod>(podsPath, this.#pods, (pod) => pod));
    this.#begin(
      this.#follow<ResourceClaim, { name: string; stored: StoredDeviceClaim }>(claimsPath, this.#claims, (claim) => ({
        name: claim.metadata?.name ?? '',
        stored: storedDeviceClaim(claim),
      })),
    );
  }

  static async begin(options: DevicePodsOptions): Promise<DevicePods> {
    const { admin, nodeNames } = options;
    const post = async (path: string, name: string, spec: JsonObject): Promise<void> => {
      objectOf(await admin.send('POST', path, { body: { metadata: { name }, spec } }));
    };
    const labels = { 'resource.kubernetes.io/admin-access': 'true' };
    objectOf(await admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace, labels } } }));
    const expressions = {
      any: `device.driver == "${driver}"`,
      large: `device.attributes["${driver}"].?model.orValue("") == "large" && device.capacity["${driver}"].memory.compareTo(quantity("8Gi")) >= 0`,
      net: `device.driver == "${netDriver}"`,
    };
    for (const [name, expression] of Object.entries(expressions))
      await post(`${api}/deviceclasses`, name, { selectors: [{ cel: { expression } }] });
    for (const [name, request] of Object.entries(templates)) {
      const spec = { devices: { requests: [{ name: 'it', ...request }] } };
      await post(`${api}/namespaces/${namespace}/resourceclaimtemplates`, name, { spec });
    }
    for (const nodeName of nodeNames) await post(`${api}/resourceslices`, nodeName, sliceOf(nodeName));
    const pool = { name: 'net', generation: 1, resourceSliceCount: 1 };
    const devices = nodeNames.slice(0, 100).map((_, index) => ({ name: `net-${index}` }));
    await post(`${api}/resourceslices`, 'net', { driver: netDriver, allNodes: true, pool, devices });
    return new DevicePods(options);
  }

  get bound(): number {
    return this.#living().filter(({ spec }) => spec.nodeName).length;
  }

  /** Those that nobody has asked to go. */
  get wanted(): number {
    return this.#living().length;
  }

  /** The pods that have no node, and would fit. Throws where a watch has failed. */
  waitingThatFit(): string[] {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#living()
      .filter(({ spec }) => !spec.nodeName)
      .filter((pod) => this.#fits(pod))
      .map(({ metadata }) => metadata.name);
  }

  get waiting(): number {
    return this.#living().filter(({ spec }) => !spec.nodeName).length;
  }

  /** True where those that were asked to go are gone, the others run, and each claim that has devices is for a pod. */
  get isInOrder(): boolean {
    const pods = [...this.#pods.values()];
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    const claims = [...this.#claims.values()].filter(({ stored }) => stored.isAllocated);
    return (
      pods.length === this.wanted &&
      pods.every(({ status }) => status.phase === 'Running') &&
      claims.every(({ stored }) => stored.reservedFor.length > 0 && stored.reservedFor.every((uid) => uids.has(uid)))
    );
  }

  async create(count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_, index) => this.created + index);
    this.created += count;
    await concurrently(numbers, (number) => this.#createOne(number));
  }

  /** Asks so many of the pods that have a node to go, whichever the seed says. */
  async remove(count: number): Promise<void> {
    const { prng, admin } = this.#options;
    const bound = this.#living().filter(({ spec }) => spec.nodeName);
    const chosen = prng.shuffled(bound.map(({ metadata }) => metadata.name).sort()).slice(0, count);
    for (const name of chosen) this.#leaving.add(name);
    await concurrently(chosen, async (name) => {
      const { status } = await admin.deletePod(namespace, name);
      if (status >= 300 && status !== 404) throw new Error(`the pod ${name} was not deleted: ${status}`);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    return Promise.resolve();
  }

  #living(): ServedPod[] {
    return [...this.#pods.values()].filter(({ metadata }) => !this.#leaving.has(metadata.name));
  }

  /** By counting alone, in a way of its own: what there is of each kind, on each node. */
  #fits({ metadata, spec, status }: ServedPod): boolean {
    const kind = metadata.labels?.kind as PodKind;
    const known = new Map([...this.#claims.values()].map(({ name, stored }) => [name, stored]));
    const claims = (spec.resourceClaims ?? []).map(({ name, resourceClaimName }) =>
      known.get(resourceClaimName ?? status.resourceClaimStatuses?.find((made) => made.name === name)?.resourceClaimName ?? ''),
    );
    // not made yet: the pod is not tried
    if (claims.some((claim) => claim === undefined)) return false;
    if (kind === 'admin' || claims.every((claim) => claim?.isAllocated)) return true;
    const taken = new Set([...known.values()].flatMap(({ devices }) => devices));
    const { nodeNames } = this.#options;
    if (kind === 'net') return nodeNames.some((_, index) => !taken.has(`${netDriver}/net/net-${index}`));
    return nodeNames.some((nodeName) => {
      const free = Array.from({ length: devicesPerNode }, (_, index) => !taken.has(`${driver}/${nodeName}/gpu-${index}`));
      const count = free.filter(Boolean).length;
      return kind === 'pair' ? free[0] === true && count > 1 : count > 0;
    });
  }

  async #createOne(number: number): Promise<void> {
    const kind = podKinds[number % podKinds.length] ?? 'one';
    const { admin, schedulerName } = this.#options;
    const own = templatesOf[kind].map((template) => ({ name: template, resourceClaimTemplateName: template }));
    const share = `share-${Math.floor(number / podKinds.length / podsPerShare)}`;
    if (kind === 'shared') {
      const body = { metadata: { name: share }, spec: { devices: { requests: [{ name: 'it', ...one('any') }] } } };
      const { status } = await admin.send('POST', claimsPath, { body });
      if (status !== 201 && status !== 409) throw new Error(`the claim ${share} was not made: ${status}`);
    }
    const resourceClaims = kind === 'shared' ? [{ name: 'share', resourceClaimName: share }] : own;
    const resources = { claims: resourceClaims.map(({ name }) => ({ name })) };
    const pod = {
      metadata: { name: `pod-${number}`, labels: { kind } },
      spec: {
        schedulerName,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        // no controller takes this taint from a node that is ready
        tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
        containers: [{ name: 'main', image: 'app:1', resources }],
        resourceClaims,
      },
    };
    objectOf(await admin.createPod(namespace, pod));
  }

  #begin(following: Promise<void>): void {
    following.catch((error: unknown) => {
      if (!this.#isOver) this.#failure ??= error;
    });
  }

  async #follow<T extends { readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string } }, Kept = T>(
    path: string,
    known: Map<string, Kept>,
    kept: (object: T) => Kept,
  ): Promise<void> {
    for await (const { type, object } of followChanges<T>(this.#options.admin, path)) {
      const uid = object.metadata?.uid ?? '';
      if (type === 'DELETED') known.delete(uid);
      else known.set(uid, kept(object));
    }
  }
}

function sliceOf(nodeName: string): JsonObject {
  const devices = Array.from({ length: devicesPerNode }, (_, index) => ({
    name: `gpu-${index}`,
    attributes: { model: { string: index === 0 ? 'large' : 'small' } },
    capacity: { memory: { value: index === 0 ? '16Gi' : '4Gi' } },
  }));
  return { driver, nodeName, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 }, devices };
}

async function concurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const turns = items.values();
  // each takes the next one until none is left
  const worker = async (): Promise<void> => {
    for (const item of turns) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
