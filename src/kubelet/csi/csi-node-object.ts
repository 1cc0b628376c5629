// Behaviour of pkg/volume/csi/nodeinfomanager, v1.36.3.

import type { V1CSINode } from '@kubernetes/client-node';
import { isJsonObject } from '../../api/json/json.ts';
import type { Wire, WireNode } from '../../api/json/types.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { SteadyLoop, type StepFailure } from '../../node/node-object/steady-loop.ts';
import { helped } from '../../node/problem-help.ts';
import type { CsiNodeInfo } from './csi-node.ts';

export interface CsiNodeObjectOptions {
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** A driver as the cluster is to see it. */
export interface InstalledDriver extends CsiNodeInfo {
  readonly name: string;
}

/** A driver that is to be told of, as long as somebody waits for that and it is still there. */
interface AddedDriver {
  readonly driver: InstalledDriver;
  readonly signal: AbortSignal;
  readonly isCurrent: () => boolean;
}

type Drivers = ReadonlyMap<string, InstalledDriver>;
type WireCsiNode = Wire<V1CSINode>;
type WireDriver = NonNullable<WireCsiNode['spec']>['drivers'][number];

const nodeIDAnnotation = 'csi.volume.kubernetes.io/nodeid';
/** What somebody else has changed comes back after so long. */
const periodMs = 300_000;
/** The waits between the tries of one write, as the kubelet has them. */
const pausesMs = [10, 50, 250];
const largestCount = 2 ** 31 - 1;

/**
 * The CSINode of this node, and what its Node says of drivers: labels by topology, and the annotation with the drivers' own ids of the node.
 * Writes name the version that they were made against, so what others have written is never lost.
 */
export class CsiNodeObject {
  readonly #options: CsiNodeObjectOptions;
  readonly #csiNodes: ResourceClient<WireCsiNode>;
  readonly #nodes: ResourceClient<WireNode>;
  readonly #drivers = new Map<string, InstalledDriver>();
  /** Drivers that are gone, and may still be named. */
  readonly #gone = new Set<string>();
  readonly #writes = new OneAtATime();
  readonly #loop: SteadyLoop;

  constructor(options: CsiNodeObjectOptions) {
    this.#options = options;
    const { transport, clock, random, logger } = options;
    this.#csiNodes = new ResourceClient(transport, resources.csiNodes);
    this.#nodes = new ResourceClient(transport, resources.nodes);
    this.#loop = new SteadyLoop({
      periodMs: () => periodMs,
      step: () => this.#write(),
      failed: (failure) => this.#failed(failure),
      recovered: (failure) => logger.info(endedFailures(failure, clock.now()), 'the CSINode is written again'),
      ...{ random, clock, logger },
    });
  }

  /** The last failure, while no write has succeeded since. */
  get failure(): StepFailure | undefined {
    return this.#loop.failure;
  }

  /** The Node must be there. */
  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /**
   * Resolves once the driver is told of, or is no longer current. Rejects where that could not be written in a few tries, or not before the signal
   * has aborted; then nothing is told of it.
   */
  async install(driver: InstalledDriver, signal: AbortSignal, isCurrent = (): boolean => true): Promise<void> {
    const { name, nodeID } = driver;
    if (nodeID === '') throw new Error(`the CSI driver ${name} has no id for the node`);
    try {
      await this.#tryWrite(signal, { driver, signal, isCurrent });
    } catch (error) {
      throw new Error(`error updating CSINode object with CSI driver node info: ${errorText(error)}`, { cause: error });
    }
  }

  /** The driver is told of no more, now or as soon as the apiserver takes it. */
  async uninstall(name: string, signal: AbortSignal): Promise<void> {
    this.#drivers.delete(name);
    this.#gone.add(name);
    await this.#tryWrite(signal).catch((error: unknown) => {
      this.#loop.wake();
      throw error;
    });
  }

  async #tryWrite(signal: AbortSignal, added?: AddedDriver): Promise<void> {
    for (const pauseMs of [...pausesMs, 0]) {
      try {
        return await this.#write(added);
      } catch (error) {
        signal.throwIfAborted();
        if (pauseMs === 0 || error instanceof TopologyCollision) throw error;
        await sleep(this.#options.clock, pauseMs, signal);
      }
    }
  }

  /** With `added`, which is one of the drivers once it is written: what it may break breaks no other's write. */
  #write(added?: AddedDriver): Promise<void> {
    return this.#writes.run('', async () => {
      added?.signal.throwIfAborted();
      if (added?.isCurrent() === false) return;
      const node = await this.#nodes.get({ name: this.#options.nodeName });
      const drivers = new Map(this.#drivers);
      const gone = new Set(this.#gone);
      if (added !== undefined) {
        const { driver } = added;
        requireTopology(node, driver);
        drivers.set(driver.name, driver);
        gone.delete(driver.name);
      }
      await this.#writeNode(node, drivers, gone);
      await this.#writeCsiNode(node, drivers, gone);
      if (added !== undefined) this.#written(added);
      for (const name of gone) this.#gone.delete(name);
    });
  }

  /** One that is no longer current is among those that are gone already. */
  #written({ driver, signal, isCurrent }: AddedDriver): void {
    const { name } = driver;
    if (signal.aborted && !this.#drivers.has(name)) {
      this.#gone.add(name);
      this.#loop.wake();
    }
    signal.throwIfAborted();
    if (!isCurrent()) return;
    this.#drivers.set(name, driver);
    this.#gone.delete(name);
  }

  async #writeNode(node: WireNode, drivers: Drivers, gone: ReadonlySet<string>): Promise<void> {
    const { name, resourceVersion, annotations = {} } = node.metadata ?? {};
    const ids = idsOf(annotations?.[nodeIDAnnotation]);
    const next = { ...ids };
    for (const driver of gone) delete next[driver];
    for (const { name: driver, nodeID } of drivers.values()) next[driver] = nodeID;
    const labels = missingLabels(node, drivers);
    const isSame = sameTexts(ids, next);
    if (isSame && Object.keys(labels).length === 0) return;
    const text = Object.keys(next).length === 0 ? null : JSON.stringify(sortedTexts(next));
    const metadata = { resourceVersion, labels, ...(!isSame && { annotations: { [nodeIDAnnotation]: text } }) };
    await this.#nodes.patch(
      { name: name ?? '', subresource: 'status' },
      { type: 'application/merge-patch+json', body: { metadata } },
    );
  }

  async #writeCsiNode(node: WireNode, own: Drivers, gone: ReadonlySet<string>): Promise<void> {
    const { nodeName: name } = this.#options;
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata?.uid ?? '' };
    const found = await this.#csiNodes.get({ name }).catch((error: unknown) => {
      if (classifyApiError(error) === 'gone') return undefined;
      throw error;
    });
    if (found === undefined) {
      await this.#csiNodes.create({ metadata: { name, ownerReferences: [owner] }, spec: { drivers: driversOf([], own, gone) } });
      return;
    }
    const { ownerReferences, uid = '' } = found.metadata ?? {};
    if (!ownerReferences?.some((each) => each.kind === 'Node' && each.name === name && each.uid === owner.uid)) {
      await this.#csiNodes.delete({ name }, { uid });
      throw new Error(`the CSINode ${name} belonged to another node of this name and was deleted; it is made anew`);
    }
    const before = found.spec?.drivers ?? [];
    const drivers = driversOf(before, own, gone);
    if (JSON.stringify(drivers) === JSON.stringify(before)) return;
    await this.#csiNodes.update({ ...found, spec: { ...found.spec, drivers } });
  }

  #failed(failure: StepFailure): void {
    const { clock, logger } = this.#options;
    const { error, attempt, since, at, retryInMs } = failure;
    const problem = { attempt, since, retryAt: at + retryInMs, ...helped('csi-node') };
    logger.warn({ err: error, ...problemFields(problem, clock.now()) }, 'the CSINode could not be written; it is tried again');
  }
}

/** A label that is there already is somebody else's to change. */
function missingLabels(node: WireNode, drivers: Drivers): Record<string, string> {
  const there = node.metadata?.labels ?? {};
  const topologies = [...drivers.values()].flatMap(({ topology }) => Object.entries(topology));
  return Object.fromEntries(topologies.filter(([key]) => there?.[key] === undefined));
}

/** Those of others stay as they are, in their places. */
function driversOf(before: readonly WireDriver[], drivers: Drivers, gone: ReadonlySet<string>): WireDriver[] {
  const kept = before.filter(({ name }) => !gone.has(name));
  const next = kept.map((each) => {
    const own = drivers.get(each.name);
    if (own === undefined) return each;
    const entry = entryOf(own);
    return isSameEntry(each, entry) ? each : entry;
  });
  const named = new Set(kept.map(({ name }) => name));
  return [...next, ...[...drivers.values()].filter(({ name }) => !named.has(name)).map(entryOf)];
}

class TopologyCollision extends Error {
  override readonly name = 'TopologyCollision';
}

function requireTopology(node: WireNode, { topology }: InstalledDriver): void {
  const labels = node.metadata?.labels ?? {};
  for (const [key, value] of Object.entries(topology)) {
    const there = labels?.[key];
    if (there === undefined || there === value) continue;
    const words = `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${there}"`;
    throw new TopologyCollision(words);
  }
}

function entryOf({ name, nodeID, topology, maxVolumesPerNode }: InstalledDriver): WireDriver {
  const count = Math.min(maxVolumesPerNode, largestCount);
  return { name, nodeID, topologyKeys: Object.keys(topology).sort(), ...(count > 0 && { allocatable: { count } }) };
}

function isSameEntry(one: WireDriver, other: WireDriver): boolean {
  const shown = ({ nodeID, topologyKeys, allocatable }: WireDriver): string =>
    JSON.stringify([nodeID, [...(topologyKeys ?? [])].sort(), allocatable?.count ?? 0]);
  return shown(one) === shown(other);
}

function idsOf(annotation: string | undefined): Record<string, string> {
  if (annotation === undefined || annotation === '') return {};
  let ids: unknown;
  try {
    ids = JSON.parse(annotation);
  } catch (cause) {
    throw new Error(`the annotation ${nodeIDAnnotation} of the node is no JSON`, { cause });
  }
  if (!isJsonObject(ids)) throw new Error(`the annotation ${nodeIDAnnotation} of the node is no object`);
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id)]));
}

function sortedTexts(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function sameTexts(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return JSON.stringify(sortedTexts(one)) === JSON.stringify(sortedTexts(other));
}
