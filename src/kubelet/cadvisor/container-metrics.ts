// Behaviour of /metrics/cadvisor of pkg/kubelet/server/server.go, v1.36.3: which groups there are, and what their labels say.

import { statfs } from 'node:fs/promises';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin, settledAtOnce, settlesWithin } from '../../base/concurrency/aborts.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type CgroupDriver, cgroupPath, podOfFolder, rootCgroup } from '../cgroups/cgroup-names.ts';
import type { Machine } from '../machine/machine.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import { runtimeLabels } from '../runtime/runtime-sandboxes.ts';
import { kernelFileText, MeasuredCgroups } from './group-measures.ts';
import { type MeasuredGroup, type MeasuredValue, metricsText } from './metric-families.ts';

export interface ContainerMetricsOptions {
  readonly runtime: Pick<ContainerRuntime, 'listContainers' | 'listPodSandboxes' | 'listImages'>;
  readonly machine: Machine;
  /** The group that those of pods are in, as the agent's option has it. */
  readonly cgroupRoot: string;
  readonly pods: () => readonly Pod[];
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Where the kernel shows cgroups, devices and processes. Default: its own places. */
  readonly places?: { readonly cgroups: string; readonly sys: string; readonly proc: string };
}

interface Labelled {
  readonly group: string;
  readonly labels: Readonly<Record<string, string>>;
  /** True: what the network of its processes has carried counts. */
  readonly hasNetwork: boolean;
  readonly createdAt: number | undefined;
}

interface KnownContainer {
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isSandbox: boolean;
  readonly createdAt: number;
}

/** So long one reading counts: several scrapers cost no more than one. */
const keptMs = 5000;
/** A scraper waits for ten seconds, as Prometheus is set up. */
const longestListMs = 5000;
const longestDiskMs = 2000;
/** So many groups are read at once. */
const atOnce = 8;
const kernelPlaces = { cgroups: '/sys/fs/cgroup', sys: '/sys', proc: '/proc' };
const noLabels = { container: '', image: '', name: '', namespace: '', pod: '' };

/** What the containers, the pods and the machine take, as `/metrics/cadvisor` of a kubelet shows it: read from the kernel's files when it is asked for. */
export class ContainerMetrics {
  readonly #options: ContainerMetricsOptions;
  readonly #places: NonNullable<ContainerMetricsOptions['places']>;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<string> | undefined;
  #isReading = false;
  #cgroups: Promise<MeasuredCgroups> | undefined;
  #disksReading: Promise<readonly MeasuredValue[]> | undefined;
  readonly #failures: FailureRun;

  constructor(options: ContainerMetricsOptions) {
    this.#options = options;
    this.#places = options.places ?? kernelPlaces;
    this.#failures = new FailureRun(options.clock, (ended) => {
      options.logger.info(ended, 'the runtime says again which containers there are: their metrics are shown');
    });
  }

  /** In the text format of Prometheus. Never rejects: where the runtime does not answer, containers are missing and `container_scrape_error` is 1. */
  text(): Promise<string> {
    const now = this.#options.clock.elapsed();
    if (this.#reading === undefined || (!this.#isReading && now - this.#readAt >= keptMs)) {
      this.#readAt = now;
      this.#isReading = true;
      this.#reading = this.#read().finally(() => {
        this.#isReading = false;
      });
    }
    return this.#reading;
  }

  async #read(): Promise<string> {
    const { clock, logger } = this.#options;
    this.#cgroups ??= MeasuredCgroups.open(this.#places.cgroups, this.#places.sys);
    const cgroups = await this.#cgroups;
    let known: ReadonlyMap<string, KnownContainer> = new Map();
    let failed = 0;
    try {
      known = await this.#containers();
      this.#failures.succeeded();
    } catch (err) {
      failed = 1;
      const { attempt } = this.#failures.failed(err);
      // until the runtime answers again
      if (attempt === 1) logger.warn({ err }, 'the runtime did not say which containers there are: their metrics are missing');
    }
    const groups = await this.#groups(cgroups, known);
    const bootedAt = await this.#bootedAt();
    const measured = await settledAtOnce(groups, atOnce, (each) => this.#measure(cgroups, bootedAt, each));
    return metricsText([
      this.#machine(),
      { labels: {}, at: undefined, values: [{ family: 'container_scrape_error', value: failed }] },
      ...measured.flatMap((each) => (each.status === 'fulfilled' && each.value !== undefined ? [each.value] : [])),
      { labels: { ...noLabels, id: '/' }, at: clock.now(), values: await this.#disks() },
    ]);
  }

  #machine(): MeasuredGroup {
    const { cpus, memoryBytes, swapBytes = 0, bootID, machineID, systemUUID } = this.#options.machine;
    return {
      labels: { boot_id: bootID, machine_id: machineID, system_uuid: systemUUID },
      at: undefined,
      values: [
        { family: 'machine_cpu_cores', value: cpus },
        { family: 'machine_memory_bytes', value: memoryBytes },
        { family: 'machine_swap_bytes', value: swapBytes },
      ],
    };
  }

  /** By the id of the runtime. */
  async #containers(): Promise<ReadonlyMap<string, KnownContainer>> {
    const { runtime, clock } = this.#options;
    const late = (): Error => new Error(`the runtime gave no answer within ${longestListMs / 1000} s`);
    const list = async (signal: AbortSignal) =>
      Promise.all([
        runtime.listContainers({}, { signal }),
        runtime.listPodSandboxes({}, { signal }),
        runtime.listImages({ signal }),
      ]);
    const [containers, sandboxes, images] = await callWithin(list, { clock, timeoutMs: longestListMs, late });
    const imageNames = new Map(images.map(({ id, repoTags, repoDigests }) => [id, repoTags[0] ?? repoDigests[0] ?? id]));
    // what the runtime has pinned is what it makes sandboxes of
    const [pinned, ...morePinned] = images.filter((image) => image.pinned);
    const pause = pinned !== undefined && morePinned.length === 0 ? (imageNames.get(pinned.id) ?? '') : '';
    return new Map<string, KnownContainer>([
      ...sandboxes.map(
        ({ id, labels, createdAt }) => [id, { name: id, image: pause, labels, isSandbox: true, createdAt }] as const,
      ),
      ...containers.map(({ id, image, imageRef, labels, createdAt }) => {
        const named = imageNames.get(imageRef) ?? imageNames.get(image) ?? image;
        return [id, { name: id, image: named, labels, isSandbox: false, createdAt }] as const;
      }),
    ]);
  }

  async #groups(cgroups: MeasuredCgroups, known: ReadonlyMap<string, KnownContainer>): Promise<Labelled[]> {
    const found: Labelled[] = [{ group: '/', labels: { ...noLabels, id: '/' }, hasNetwork: true, createdAt: undefined }];
    const pods = new Map(this.#options.pods().map((pod) => [podUIDOf(pod), pod]));
    const plain = (group: string, more: object = {}): Labelled => {
      return { group, labels: { ...noLabels, id: group, ...more }, hasNetwork: false, createdAt: undefined };
    };
    for (const { driver, group: all } of podGroupsBelow(this.#options.cgroupRoot)) {
      if ((await cgroups.groupsIn(all)) === undefined) continue;
      found.push(plain(all));
      for (const parent of [all, ...['burstable', 'besteffort'].map((name) => classGroup(all, name, driver))]) {
        const folders = await cgroups.groupsIn(parent);
        if (folders === undefined) continue;
        if (parent !== all) found.push(plain(parent));
        for (const folder of folders) {
          const podUID = podOfFolder(folder, driver);
          const { name: pod, namespace } = pods.get(podUID ?? '')?.metadata ?? {};
          if (podUID === undefined || pod === undefined) continue;
          const group = `${parent}/${folder}`;
          found.push(plain(group, { pod, namespace: namespace ?? '' }));
          for (const name of (await cgroups.groupsIn(group)) ?? []) {
            const container = known.get(containerOfGroup(name));
            if (container !== undefined) found.push(labelledContainer(`${group}/${name}`, container));
          }
        }
      }
    }
    return found;
  }

  async #measure(
    cgroups: MeasuredCgroups,
    bootedAt: number,
    { group, labels, hasNetwork, createdAt }: Labelled,
  ): Promise<MeasuredGroup | undefined> {
    const at = this.#options.clock.now();
    const [measured, network] = await Promise.all([
      cgroups.measure(group, bootedAt),
      hasNetwork ? this.#network(cgroups, group) : [],
    ]);
    if (measured === undefined) return undefined;
    const started = 'container_start_time_seconds';
    const limits = group === '/' ? this.#machineLimits(measured) : [];
    const values = measured
      .filter(({ family }) => !limits.some((limit) => limit.family === family))
      .filter(({ family, value }) => (family === started ? createdAt === undefined : family !== cpuTime || value > 0))
      .map((each) => (each.family === cpuTime ? { ...each, labels: { cpu: 'total' } } : each));
    const seen: MeasuredValue = { family: 'container_last_seen', value: Math.floor(at / 1000) };
    const begun: MeasuredValue[] = createdAt === undefined ? [] : [{ family: started, value: Math.floor(createdAt / 1000) }];
    return { labels, at, values: [seen, ...begun, ...values, ...limits, ...network] };
  }

  /** The machine has no limit but what it has, whatever the kernel says of its group. */
  #machineLimits(measured: readonly MeasuredValue[]): readonly MeasuredValue[] {
    const { memoryBytes, swapBytes = 0 } = this.#options.machine;
    const reservation = measured.find(({ family }) => family === memoryReservation) ?? { family: memoryReservation, value: 0 };
    return [
      { family: 'container_spec_memory_limit_bytes', value: memoryBytes },
      { family: 'container_spec_memory_swap_limit_bytes', value: swapBytes },
      reservation,
    ];
  }

  /** The minute in which the machine started, in seconds since the epoch; 0 where the kernel does not say. */
  async #bootedAt(): Promise<number> {
    const seconds = /^btime (\d+)$/m.exec((await kernelFileText(`${this.#places.proc}/stat`)) ?? '')?.[1];
    return 60 * Math.floor(Number(seconds ?? 0) / 60);
  }

  /** Of a sandbox: what its network namespace has carried, which all containers of the pod share. */
  async #network(cgroups: MeasuredCgroups, group: string): Promise<MeasuredValue[]> {
    const pid = group === '/' ? 1 : await cgroups.firstProcess(group);
    if (pid === undefined) return [];
    const lines = (await kernelFileText(`${this.#places.proc}/${pid}/net/dev`))?.split('\n').slice(2, 2 + mostInterfaces) ?? [];
    return lines.flatMap((line) => {
      const [, name = '', counts = ''] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
      if (name === '' || ignoredInterface.test(name)) return [];
      const fields = counts.split(/\s+/).map(Number);
      const labels = { interface: name };
      return interfaceFamilies.map(([family, at]) => ({ family, value: fields[at] ?? Number.NaN, labels }));
    });
  }

  /** A disk that hangs holds two threads of the process at most, and nobody up: the disks are missing then. */
  async #disks(): Promise<readonly MeasuredValue[]> {
    this.#disksReading ??= this.#readDisks().finally(() => {
      this.#disksReading = undefined;
    });
    const reading = this.#disksReading;
    return (await settlesWithin(reading, { clock: this.#options.clock, timeoutMs: longestDiskMs })) ? reading : [];
  }

  /** Of each disk of the machine that a file system is on. Never rejects. */
  async #readDisks(): Promise<readonly MeasuredValue[]> {
    const mounts = ((await kernelFileText(`${this.#places.proc}/1/mounts`)) ?? '').split('\n').map((line) => line.split(' '));
    const byDevice = new Map<string, string>();
    for (const [device = '', path = ''] of mounts) {
      if (device.startsWith('/dev/') && !device.startsWith('/dev/loop') && !byDevice.has(device)) byDevice.set(device, path);
    }
    const found = await settledAtOnce([...byDevice].slice(0, mostDisks), 2, async ([device, path]): Promise<MeasuredValue[]> => {
      const { blocks, bfree, bsize, files, ffree } = await statfs(path.replace(/\\040/g, ' '));
      const labels = { device };
      return [
        { family: 'container_fs_limit_bytes', value: blocks * bsize, labels },
        { family: 'container_fs_usage_bytes', value: (blocks - bfree) * bsize, labels },
        { family: 'container_fs_inodes_total', value: files, labels },
        { family: 'container_fs_inodes_free', value: ffree, labels },
      ];
    });
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  }
}

const cpuTime = 'container_cpu_usage_seconds_total';
const memoryReservation = 'container_spec_memory_reservation_limit_bytes';
const mostInterfaces = 100;
const mostDisks = 32;
/** cAdvisor shows those of the pod, not the ends of others' networks. */
const ignoredInterface = /^(?:lo|veth|docker|nerdctl)/;
/** Where in a line of `net/dev` they are. */
const interfaceFamilies = [
  ['container_network_receive_bytes_total', 0],
  ['container_network_receive_packets_total', 1],
  ['container_network_receive_errors_total', 2],
  ['container_network_receive_packets_dropped_total', 3],
  ['container_network_transmit_bytes_total', 8],
  ['container_network_transmit_packets_total', 9],
  ['container_network_transmit_errors_total', 10],
  ['container_network_transmit_packets_dropped_total', 11],
] as const;

function labelledContainer(group: string, { name, image, labels, isSandbox, createdAt }: KnownContainer): Labelled {
  const container = isSandbox ? '' : (labels[runtimeLabels.containerName] ?? '');
  const [pod, namespace] = [labels[runtimeLabels.podName] ?? '', labels[runtimeLabels.podNamespace] ?? ''];
  return { group, labels: { container, image, name, namespace, pod, id: group }, hasNetwork: isSandbox, createdAt };
}

/** The id in a group's name: CONTAINER, or RUNTIME-CONTAINER.scope. Empty for the group of what CRI-O has watch a container. */
function containerOfGroup(name: string): string {
  return name.startsWith('crio-conmon-') ? '' : (/([^-]+?)(?:\.scope)?$/.exec(name)?.[1] ?? '');
}

/** Where the group of all pods may be, by who makes cgroups. */
function podGroupsBelow(cgroupRoot: string): { readonly driver: CgroupDriver; readonly group: string }[] {
  return (['cgroupfs', 'systemd'] as const).flatMap((driver) => {
    const group = callGuarded(() => cgroupPath([...rootCgroup(cgroupRoot, driver), 'kubepods'], driver), ignoreFailure);
    return group === undefined ? [] : [{ driver, group }];
  });
}

function classGroup(all: string, name: string, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `${all}/${name}`;
  const slice = all.slice(all.lastIndexOf('/') + 1).replace(/\.slice$/, '');
  return `${all}/${slice}-${name}.slice`;
}
