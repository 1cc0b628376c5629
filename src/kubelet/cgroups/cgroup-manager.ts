// Behaviour of pkg/kubelet/cm (pod and QoS container managers), v1.36.3.

import { totalmem } from 'node:os';
import type { Pod } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { PodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { podRequests } from '../../api/pod/pod-requests.ts';
import { thousandths } from '../../api/quantity/quantity-arithmetic.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { errorText, invalidOption } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { oneOfOption, optionOfType, requireKnownOptions } from '../../base/options.ts';
import type { LinuxContainerResources, ResourceUsage } from '../runtime/runtime-containers.ts';
import type { OpenSystemBus } from '../systemd/system-bus.ts';
import { SystemdUnits } from '../systemd/systemd-units.ts';
import { CgroupError, type CgroupFiles, kernelCgroupFiles, minShares, sharesOf } from './cgroup-files.ts';
import {
  type CgroupDriver,
  type CgroupName,
  type CgroupTree,
  cgroupPath,
  classCgroup,
  namedCgroup,
  podCgroup,
  podOfFolder,
  qosClassOf,
  rootCgroup,
} from './cgroup-names.ts';
import {
  amountsAsLimits,
  type CheckedNodeLimits,
  checkedNodeLimits,
  machineProcesses,
  type NodeLimits,
  podCgroupResources,
} from './cgroup-resources.ts';
import { CgroupsV1 } from './cgroups-v1.ts';
import { CgroupsV2 } from './cgroups-v2.ts';
import { classMemory } from './memory-classes.ts';
import { SystemdSlices } from './systemd-slices.ts';

/** Where cgroups are made. All of it is optional. */
export interface CgroupManagerOptions {
  /** Where the kernel's cgroups are mounted. Default `/sys/fs/cgroup`. */
  readonly filesystemRoot?: string;
  /** The cgroup that those of pods are made in: for the driver `systemd` `/a/b` is the same as `/a.slice/a-b.slice`. Default `/`. */
  readonly cgroupRoot?: string;
  /**
   * Who makes cgroups: `cgroupfs` is this agent itself. For `systemd` each group is a slice, which systemd is told to make, and it needs
   * `openSystemBus`. It must be the driver of the container runtime. Default `cgroupfs`.
   */
  readonly driver?: CgroupDriver;
  /** How systemd is reached: the function of that name of `pod-status-manager/systemd`. Only the driver `systemd` uses it. */
  readonly openSystemBus?: OpenSystemBus | undefined;
  /** What of the node decides over the limits of its pods. */
  readonly limits?: Omit<NodeLimits, 'cgroupVersion'>;
  /** The file system of the cgroups. Default: the machine's. */
  readonly files?: CgroupFiles;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

const knownOptions = ['filesystemRoot', 'cgroupRoot', 'driver', 'openSystemBus', 'limits', 'files', 'clock'];
/** How often the weights of classes are written although nothing has changed, as by the kubelet. */
const classesPeriodMs = 60_000;
const classes: readonly PodQOSClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];

/**
 * Makes, limits, measures and removes the cgroups of pods, in the kernel's own file system, or by systemd: in each hierarchy of version 1,
 * or the one of version 2. It needs the rights of root. Nothing is kept but on the machine, so a new one finds what an old one has made.
 *
 * @example
 * ```ts no-run
 * import { CgroupManager } from 'pod-status-manager/kubelet';
 *
 * const cgroups = await CgroupManager.open({ cgroupRoot: '/' });
 * await cgroups.createBase();
 * for (const uid of await cgroups.listPods()) await cgroups.removePod(uid);
 * ```
 */
export class CgroupManager implements PodCgroups {
  readonly version: 1 | 2;
  readonly #driver: CgroupDriver;
  readonly #tree: CgroupTree;
  readonly #files: CgroupFiles;
  readonly #clock: SteadyClock;
  readonly #root: CgroupName;
  readonly #limits: CheckedNodeLimits;
  /** Removals under way, by the uid of the pod. */
  readonly #removals = new Map<string, Promise<void>>();
  /** What the groups of classes were given last, as one text. */
  #classValues: string | undefined;
  /** When the weights of all classes were last put right, by the clock's elapsed time. */
  #classesSetAt = Number.NEGATIVE_INFINITY;

  private constructor(tree: CgroupTree, driver: CgroupDriver, options: CgroupManagerOptions) {
    this.version = tree.version;
    this.#driver = driver;
    this.#tree = tree;
    this.#files = options.files ?? kernelCgroupFiles;
    this.#clock = safeClock(options.clock ?? systemClock);
    this.#root = rootCgroup(options.cgroupRoot ?? '/', driver);
    this.#limits = checkedNodeLimits({ ...options.limits, cgroupVersion: tree.version }, totalmem());
  }

  /**
   * Finds out which version the machine has, and for the driver `systemd` whether systemd answers. Throws ERR_INVALID_OPTION, naming the
   * option, the rule and the value. Rejects with a {@link CgroupError} where the machine has no cgroups that pods can be limited with,
   * or systemd cannot be reached.
   */
  static async open(options: CgroupManagerOptions = {}): Promise<CgroupManager> {
    requireKnownOptions('options', options, knownOptions);
    const { filesystemRoot = '/sys/fs/cgroup', cgroupRoot = '/', files = kernelCgroupFiles } = options;
    requirePath('filesystemRoot', filesystemRoot);
    requirePath('cgroupRoot', cgroupRoot);
    const driver = oneOfOption('driver', options.driver ?? 'cgroupfs', ['cgroupfs', 'systemd']);
    rootCgroup(cgroupRoot, driver);
    const isVersion2 = (await files.read(`${filesystemRoot}/cgroup.controllers`)) !== undefined;
    const tree = await (isVersion2 ? CgroupsV2.open(files, filesystemRoot) : CgroupsV1.open(files, filesystemRoot));
    return new CgroupManager(driver === 'systemd' ? await slicesOn(tree, options) : tree, driver, options);
  }

  podParent(pod: Pod): string {
    return this.#podPath(uidOf(pod), qosClassOf(pod));
  }

  async createBase(allocatable?: ResourceQuantities, signal?: AbortSignal): Promise<void> {
    for (const qosClass of classes) {
      signal?.throwIfAborted();
      await this.#tree.make(this.#classPath(qosClass));
      await this.#tree.forgetLost(this.#classPath(qosClass));
    }
    signal?.throwIfAborted();
    if (allocatable !== undefined) {
      const pid = machineProcesses();
      await this.limitGroup('pods', { ...(pid !== undefined && { pid: String(pid) }), ...allocatable });
    }
    this.#classesSetAt = Number.NEGATIVE_INFINITY;
    await this.updateClasses([]);
  }

  async limitGroup(group: string, amounts: ResourceQuantities, onlyCompressible = false): Promise<void> {
    const isPods = group === 'pods';
    const path = isPods ? this.#classPath('Guaranteed') : namedCgroup(group, this.#driver);
    const needed = isPods ? [] : this.#tree.neededFoldersOf(path);
    const inside = await Promise.all(needed.map((folder) => this.#files.foldersIn(folder)));
    const missing = inside.indexOf(undefined);
    if (missing !== -1) throw new CgroupError(`there is no cgroup ${needed[missing]}`);
    const limits = amountsAsLimits(amounts, this.#limits.hugePageSizes, onlyCompressible);
    const { memoryQOS, cgroupVersion } = this.#limits;
    const isKept = !isPods && memoryQOS !== undefined && cgroupVersion === 2 && limits.memoryLimitInBytes !== undefined;
    await this.#tree.set(path, {
      ...limits,
      ...(isKept && { unified: { 'memory.min': String(limits.memoryLimitInBytes) } }),
    });
  }

  async updateClasses(given: Iterable<Pod>): Promise<void> {
    const pods = [...given];
    let milliCPU = 0;
    for (const pod of pods) if (qosClassOf(pod) === 'Burstable') milliCPU += thousandths(podRequests(pod.spec).cpu);
    const shares = sharesOf(milliCPU);
    const now = this.#clock.elapsed();
    // what somebody else has changed is put right
    const isDue = now - this.#classesSetAt >= classesPeriodMs;
    const memory = classMemory(pods, this.#limits);
    const values = JSON.stringify([shares, memory]);
    if (!isDue && values === this.#classValues) return;
    // after a failure the next call tries again
    this.#classValues = undefined;
    if (isDue) await this.#tree.set(this.#classPath('BestEffort'), { cpuShares: minShares });
    if (memory !== undefined) await this.#tree.set(this.#classPath('Guaranteed'), { unified: memory.all });
    await this.#tree.set(this.#classPath('Burstable'), { cpuShares: shares, ...(memory && { unified: memory.burstable }) });
    this.#classValues = values;
    if (isDue) this.#classesSetAt = now;
  }

  async ensurePod(pod: Pod): Promise<void> {
    const group = this.podParent(pod);
    // a static pod can come again under the uid of one that is being removed
    await this.#removals.get(uidOf(pod))?.catch(ignoreFailure);
    if (await this.#isInUse(group)) return;
    const { podPidsLimit } = this.#limits;
    await this.#tree.make(group, {
      ...podCgroupResources(pod, this.#limits),
      ...(podPidsLimit > 0 && { pidsLimit: podPidsLimit }),
    });
  }

  async updatePod(pod: Pod, resources?: LinuxContainerResources): Promise<void> {
    const unlimited = { cpuQuota: -1, cpuPeriod: this.#limits.cpuCFSQuotaPeriodUs, memoryLimitInBytes: -1 };
    await this.#tree.set(this.podParent(pod), resources ?? { ...unlimited, ...podCgroupResources(pod, this.#limits) });
  }

  podResources(pod: Pod): Promise<LinuxContainerResources | undefined> {
    return this.#tree.get(this.podParent(pod));
  }

  removePod(pod: Pod | string): Promise<void> {
    const podUID = uidOf(pod);
    const removal = this.#removals.get(podUID) ?? this.#remove(podUID).finally(() => this.#removals.delete(podUID));
    this.#removals.set(podUID, removal);
    return removal;
  }

  async listPods(): Promise<readonly string[]> {
    const uids = new Set<string>();
    for (const qosClass of classes) {
      for (const folder of this.#tree.foldersOf(this.#classPath(qosClass))) {
        for (const name of (await this.#files.foldersIn(folder)) ?? []) {
          const uid = podOfFolder(name, this.#driver);
          if (uid !== undefined) uids.add(uid);
        }
      }
    }
    return [...uids];
  }

  async podUsage(podUID: string): Promise<ResourceUsage | undefined> {
    for (const group of this.#podPaths(podUID)) {
      const usage = await this.#tree.usage(group, this.#clock.now());
      if (usage !== undefined) return usage;
    }
    return undefined;
  }

  usage(of: 'pods' | 'node'): Promise<ResourceUsage | undefined> {
    return this.#tree.usage(of === 'node' ? '' : this.#classPath('Guaranteed'), this.#clock.now());
  }

  /** Ends the connection to systemd, where there is one. The next call opens one anew. */
  close(): void {
    this.#tree.close();
  }

  /** The same as `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Whichever class the pod had when its group was made. */
  async #remove(podUID: string): Promise<void> {
    for (const group of this.#podPaths(podUID)) await this.#tree.remove(group, this.#clock);
  }

  /** True for a group that is there in each hierarchy and has groups in it. Without them nobody knows if it got its limits. */
  async #isInUse(group: string): Promise<boolean> {
    const inside = await Promise.all(this.#tree.foldersOf(group).map((folder) => this.#files.foldersIn(folder)));
    return inside.every((names) => names !== undefined) && inside.some((names) => names !== undefined && names.length > 0);
  }

  #classPath(qosClass: PodQOSClass): string {
    return cgroupPath(classCgroup(this.#root, qosClass), this.#driver);
  }

  #podPaths(podUID: string): readonly string[] {
    return classes.map((qosClass) => this.#podPath(podUID, qosClass));
  }

  #podPath(podUID: string, qosClass: PodQOSClass): string {
    return cgroupPath(podCgroup(this.#root, podUID, qosClass), this.#driver);
  }
}

const withoutSystemd =
  'set the driver of the container runtime to cgroupfs (containerd: SystemdCgroup = false), or run pods without cgroups of their own (cgroupsPerQOS: false)';

async function slicesOn(tree: CgroupTree, options: CgroupManagerOptions): Promise<SystemdSlices> {
  const { openSystemBus: openBus, files = kernelCgroupFiles } = options;
  if (openBus === undefined) {
    const missing = 'the option openSystemBus, which is the function of that name of pod-status-manager/systemd';
    throw new CgroupError(`the cgroup driver systemd needs ${missing}. Without it, ${withoutSystemd}`);
  }
  optionOfType('openSystemBus', openBus, 'function');
  const clock = safeClock(options.clock ?? systemClock);
  const units = new SystemdUnits({ openBus, clock });
  try {
    return new SystemdSlices({ tree, units, systemdVersion: await units.version(), files });
  } catch (error) {
    const help = `An agent in a container needs /run/dbus or /run/systemd of the machine. Without systemd, ${withoutSystemd}`;
    throw new CgroupError(`the cgroup driver is systemd, and it cannot be used: ${errorText(error)}. ${help}`, { cause: error });
  }
}

function requirePath(name: string, value: unknown): void {
  if (typeof value === 'string' && value.startsWith('/') && !value.split('/').includes('..')) return;
  throw invalidOption(name, 'an absolute path without ".."', value);
}

/** The cgroups of a node's pods. Calls for one pod come one after another; calls for different pods may overlap. */
export interface PodCgroups {
  /** The version of the node's cgroups. */
  readonly version: 1 | 2;
  /** The cgroup that the pod's containers are put under, such as `/kubepods/burstable/podA`. */
  podParent(pod: Pod): string;
  /**
   * Makes the groups of all pods and of each class of them. What the node can give limits all pods together, where it is given:
   * `cpu`, `memory`, huge pages, and processes as `pid`, by default as many as the kernel has.
   * Rejects with an error that names the group and the file, and once the signal aborts with its reason; then no more is made.
   */
  createBase(allocatable?: ResourceQuantities, signal?: AbortSignal): Promise<void>;
  /**
   * Limits a group as a whole: `pods`, that of all pods, or one that is there by its name, such as `/system.slice`. The amounts are
   * as for `createBase`; what is absent stays, but huge pages, of which there are none then. True as `onlyCompressible`: processor
   * time alone. Rejects with an error that names the group and the file.
   */
  limitGroup(group: string, amounts: ResourceQuantities, onlyCompressible?: boolean): Promise<void>;
  /**
   * Gives the group of all burstable pods the weight of what these pods ask for together. It is called for each pod that begins or ends,
   * and every two seconds: where nothing is to change it does little.
   */
  updateClasses(pods: Iterable<Pod>): Promise<void>;
  /** Makes the pod's group with the limits of its spec. One that containers are in stays as it is. */
  ensurePod(pod: Pod): Promise<void>;
  /** Gives the pod's group those limits; what is absent stays. Without `resources`: the limits of the pod's spec, and no others. */
  updatePod(pod: Pod, resources?: LinuxContainerResources): Promise<void>;
  /** The limits that are in force for the pod's group; undefined where there is no such group. */
  podResources(pod: Pod): Promise<LinuxContainerResources | undefined>;
  /** Kills what is left in the group of the pod, or of the pod with that uid, and removes it. One that is not there is no error. */
  removePod(pod: Pod | string): Promise<void>;
  /** The uids of the pods that have a group. */
  listPods(): Promise<readonly string[]>;
  /** What a pod takes; undefined where there is no such group. */
  podUsage(podUID: string): Promise<ResourceUsage | undefined>;
  /** What all pods take together, or what the whole node takes; undefined where the kernel does not say. */
  usage(of: 'pods' | 'node'): Promise<ResourceUsage | undefined>;
}

/** The uid of a pod, or the uid itself. */
export function uidOf(pod: Pod | string): string {
  return typeof pod === 'string' ? pod : podUIDOf(pod);
}
