// What github.com/google/cadvisor/container/libcontainer v0.56.2 reads of cgroups, from the files of the kernel.

import { readdir, readFile, stat } from 'node:fs/promises';
import { mebibyte } from '../../api/json/bytes.ts';
import type { MeasuredValue, MetricFamily } from './metric-families.ts';

/** The files of cgroups: one tree, or with version 1 one for each controller. */
export class MeasuredCgroups {
  readonly version: 1 | 2;
  readonly #root: string;
  readonly #devices: BlockDevices;

  private constructor(version: 1 | 2, root: string, devices: BlockDevices) {
    this.version = version;
    this.#root = root;
    this.#devices = devices;
  }

  /** `sys`: where the kernel shows its devices. */
  static async open(root = '/sys/fs/cgroup', sys = '/sys'): Promise<MeasuredCgroups> {
    const controllers = await kernelFileText(`${root}/cgroup.controllers`);
    return new MeasuredCgroups(controllers === undefined ? 1 : 2, root, new BlockDevices(sys));
  }

  /** The names of the groups in a group; undefined where there is none. `/` is the root. */
  async groupsIn(group: string): Promise<readonly string[] | undefined> {
    const entries = await readdir(this.#folder('memory', group), { withFileTypes: true }).catch(() => undefined);
    return entries?.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** The process that the first line of the group names; undefined where there is none. */
  async firstProcess(group: string): Promise<number | undefined> {
    const pid = Number((await kernelFileText(`${this.#folder('memory', group)}/cgroup.procs`))?.split('\n', 1)[0]);
    return pid > 0 ? pid : undefined;
  }

  /**
   * What the kernel has counted of the group; what it does not say is absent. Undefined where there is no such group. No group has begun before
   * `bootedAt`, in seconds since the epoch.
   */
  async measure(group: string, bootedAt: number): Promise<readonly MeasuredValue[] | undefined> {
    const folder = this.#folder('memory', group);
    if ((await changedAtMs(folder)) === undefined) return undefined;
    const [own, processes, begunAt] = await Promise.all([
      this.version === 2 ? this.#measure2(group) : this.#measure1(group),
      kernelFileText(`${folder}/cgroup.procs`),
      this.#begunAt(group),
    ]);
    const values: Values = { ...own, container_start_time_seconds: Math.max(begunAt, bootedAt) };
    if (processes !== undefined) values.container_processes = processes.split('\n').length - 1;
    return [...plain(values), ...(await this.#traffic(group))];
  }

  #folder(controller: string, group: string): string {
    const base = this.version === 2 ? this.#root : `${this.#root}/${controller}`;
    return group === '/' ? base : `${base}${group}`;
  }

  /** A folder changes with each group in it, and a file like these hardly ever: the earliest counts. In seconds since the epoch. */
  async #begunAt(group: string): Promise<number> {
    const [controllers, file] =
      this.version === 2 ? [[''], 'cgroup.events'] : [['memory', 'cpu', 'cpuacct', 'pids', 'blkio'], 'cgroup.clone_children'];
    const folders = controllers.map((controller) => this.#folder(controller, group));
    const times = await Promise.all(folders.flatMap((folder) => [changedAtMs(folder), changedAtMs(`${folder}/${file}`)]));
    return Math.floor(Math.min(...times.filter((time) => time !== undefined)) / 1000);
  }

  async #measure2(group: string): Promise<Values> {
    const folder = this.#folder('', group);
    const text = (name: string): Promise<string | undefined> => kernelFileText(`${folder}/${name}`);
    const [cpu, memory, current, peak, swap, events] = await Promise.all(
      ['cpu.stat', 'memory.stat', 'memory.current', 'memory.peak', 'memory.swap.current', 'memory.events'].map(text),
    );
    const [max, swapMax, least, quota, weight, threads, mostThreads] = await Promise.all(
      ['memory.max', 'memory.swap.max', 'memory.min', 'cpu.max', 'cpu.weight', 'pids.current', 'pids.max'].map(text),
    );
    const [time, held, told] = [numbersIn(cpu), numbersIn(memory), numbersIn(events)];
    const usage = numberIn(current) ?? (group === '/' ? await usedMemory() : undefined);
    const [most = '', period = ''] = quota?.trim().split(' ') ?? [];
    const seconds = (name: string): number | undefined => scaled(time.get(name), 1e-6);
    const isLimited = quota !== undefined && most !== 'max';
    return {
      container_cpu_usage_seconds_total: seconds('usage_usec'),
      container_cpu_user_seconds_total: seconds('user_usec'),
      container_cpu_system_seconds_total: seconds('system_usec'),
      ...(isLimited && {
        container_cpu_cfs_periods_total: time.get('nr_periods'),
        container_cpu_cfs_throttled_periods_total: time.get('nr_throttled'),
        container_cpu_cfs_throttled_seconds_total: seconds('throttled_usec'),
        container_spec_cpu_quota: Number(most),
      }),
      container_spec_cpu_period: quota === undefined ? undefined : Number(period),
      container_spec_cpu_shares: sharesOf(numberIn(weight)),
      ...memoryValues(usage, { rss: held.get('anon'), cache: held.get('file'), mapped: held.get('file_mapped'), held }),
      container_memory_swap: numberIn(swap),
      container_memory_max_usage_bytes: numberIn(peak),
      container_memory_failcnt: usage === undefined ? undefined : 0,
      container_oom_events_total: told.get('oom_kill'),
      container_spec_memory_limit_bytes: limitIn(max),
      container_spec_memory_swap_limit_bytes: limitIn(swapMax),
      container_spec_memory_reservation_limit_bytes: limitIn(least),
      ...threadValues(threads, mostThreads),
      ...(await this.#pressures(folder)),
    };
  }

  async #pressures(folder: string): Promise<Values> {
    const values: Values = {};
    for (const what of ['cpu', 'memory', 'io'] as const) {
      const text = await kernelFileText(`${folder}/${what}.pressure`);
      for (const [line, name] of [
        ['some', 'waiting'],
        ['full', 'stalled'],
      ] as const) {
        const total = new RegExp(`^${line} .*\\btotal=(\\d+)`, 'm').exec(text ?? '')?.[1];
        if (total !== undefined) values[`container_pressure_${what}_${name}_seconds_total`] = Number(total) * 1e-6;
      }
    }
    return values;
  }

  async #measure1(group: string): Promise<Values> {
    const read = (controller: string, name: string): Promise<string | undefined> =>
      kernelFileText(`${this.#folder(controller, group)}/${controller === 'pids' ? 'pids' : controller}.${name}`);
    const [usage, ticks, periods, quota, period, shares] = await Promise.all([
      read('cpuacct', 'usage'),
      read('cpuacct', 'stat'),
      read('cpu', 'stat'),
      read('cpu', 'cfs_quota_us'),
      read('cpu', 'cfs_period_us'),
      read('cpu', 'shares'),
    ]);
    const [bytes, memory, most, failed, limit, both, soft, oom] = await Promise.all(
      [
        ...['usage_in_bytes', 'stat', 'max_usage_in_bytes', 'failcnt', 'limit_in_bytes', 'memsw.limit_in_bytes'],
        ...['soft_limit_in_bytes', 'oom_control'],
      ].map((name) => read('memory', name)),
    );
    const [threads, mostThreads] = await Promise.all([read('pids', 'current'), read('pids', 'max')]);
    const [held, time, counted] = [numbersIn(memory), numbersIn(periods), numbersIn(ticks)];
    const isLimited = (numberIn(quota) ?? -1) > 0;
    const total = (name: string): number | undefined => held.get(`total_${name}`) ?? held.get(name);
    return {
      container_cpu_usage_seconds_total: scaled(numberIn(usage), 1e-9),
      container_cpu_user_seconds_total: scaled(counted.get('user'), 0.01),
      container_cpu_system_seconds_total: scaled(counted.get('system'), 0.01),
      ...(isLimited && {
        container_cpu_cfs_periods_total: time.get('nr_periods'),
        container_cpu_cfs_throttled_periods_total: time.get('nr_throttled'),
        container_cpu_cfs_throttled_seconds_total: scaled(time.get('throttled_time'), 1e-9),
        container_spec_cpu_quota: numberIn(quota),
      }),
      container_spec_cpu_period: numberIn(period),
      container_spec_cpu_shares: numberIn(shares),
      ...memoryValues(numberIn(bytes), { rss: total('rss'), cache: total('cache'), mapped: total('mapped_file'), held }),
      container_memory_swap: total('swap'),
      container_memory_max_usage_bytes: numberIn(most),
      container_memory_failcnt: numberIn(failed),
      container_oom_events_total: numbersIn(oom).get('oom_kill'),
      container_spec_memory_limit_bytes: limitIn(limit),
      container_spec_memory_swap_limit_bytes: limitIn(both),
      container_spec_memory_reservation_limit_bytes: limitIn(soft),
      ...threadValues(threads, mostThreads),
    };
  }

  /** What was read from and written to each disk. */
  async #traffic(group: string): Promise<MeasuredValue[]> {
    const counts = this.version === 2 ? await this.#traffic2(group) : await this.#traffic1(group);
    const values: MeasuredValue[] = [];
    for (const { device, family, value } of counts) {
      const name = await this.#devices.nameOf(device);
      if (name !== undefined) values.push({ family, value, labels: { device: name } });
    }
    return values;
  }

  async #traffic2(group: string): Promise<DiskCount[]> {
    const names = { rbytes: 'reads_bytes', wbytes: 'writes_bytes', rios: 'reads', wios: 'writes' } as const;
    const lines = (await kernelFileText(`${this.#folder('', group)}/io.stat`))?.split('\n').slice(0, mostDevices) ?? [];
    return lines.flatMap((line) => {
      const [device = '', ...fields] = line.split(' ');
      return fields.flatMap((field): DiskCount[] => {
        const [name = '', count] = field.split('=');
        const kind = Object.hasOwn(names, name) ? names[name as keyof typeof names] : undefined;
        return kind === undefined ? [] : [{ device, family: `container_fs_${kind}_total`, value: Number(count) }];
      });
    });
  }

  async #traffic1(group: string): Promise<DiskCount[]> {
    const folder = this.#folder('blkio', group);
    const found: DiskCount[] = [];
    for (const [file, what] of [
      ['io_service_bytes', '_bytes'],
      ['io_serviced', ''],
    ] as const) {
      const text =
        (await kernelFileText(`${folder}/blkio.throttle.${file}_recursive`)) ??
        (await kernelFileText(`${folder}/blkio.throttle.${file}`));
      for (const line of text?.split('\n').slice(0, 6 * mostDevices) ?? []) {
        const [, device = '', kind, value] = /^(\d+:\d+) (Read|Write) (\d+)$/.exec(line) ?? [];
        if (kind !== undefined) {
          found.push({
            device,
            family: `container_fs_${kind === 'Read' ? 'reads' : 'writes'}${what}_total`,
            value: Number(value),
          });
        }
      }
    }
    return found;
  }
}

type Values = { [Family in MetricFamily]?: number | undefined };

interface DiskCount {
  /** By the numbers of the kernel, such as `8:0`. */
  readonly device: string;
  readonly family: MetricFamily;
  readonly value: number;
}

const mostDevices = 100;
/** What the kernel writes for no limit with version 1, or more. */
const noLimit = 2 ** 62;

interface HeldMemory {
  readonly rss: number | undefined;
  readonly cache: number | undefined;
  readonly mapped: number | undefined;
  readonly held: ReadonlyMap<string, number>;
}

function memoryValues(usage: number | undefined, { rss, cache, mapped, held }: HeldMemory): Values {
  if (usage === undefined) return {};
  const total = (name: string): number => held.get(`total_${name}`) ?? held.get(name) ?? 0;
  return {
    container_memory_usage_bytes: usage,
    container_memory_working_set_bytes: Math.max(0, usage - total('inactive_file')),
    container_memory_rss: rss ?? 0,
    container_memory_cache: cache ?? 0,
    container_memory_mapped_file: mapped ?? 0,
    container_memory_total_active_file_bytes: total('active_file'),
    container_memory_total_inactive_file_bytes: total('inactive_file'),
  };
}

/** cAdvisor shows no limit as 0. */
function threadValues(current: string | undefined, most: string | undefined): Values {
  return { container_threads: numberIn(current), container_threads_max: most === undefined ? undefined : (numberIn(most) ?? 0) };
}

function plain(values: Values): MeasuredValue[] {
  return Object.entries(values).flatMap(([family, value]) =>
    value === undefined ? [] : [{ family: family as MetricFamily, value }],
  );
}

/** From 0 where there is no limit. */
function limitIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = numberIn(text) ?? 0;
  return limit >= noLimit ? 0 : limit;
}

/** The weight of version 2 as the shares of version 1. */
function sharesOf(weight: number | undefined): number | undefined {
  return weight === undefined ? undefined : Math.trunc(2 + ((weight - 1) * 262_142) / 9999);
}

function scaled(value: number | undefined, by: number): number | undefined {
  // no more digits than were counted
  return value === undefined ? undefined : value / Math.round(1 / by);
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+\s*$/.test(text) ? Number(text) : undefined;
}

function numbersIn(text: string | undefined): ReadonlyMap<string, number> {
  const lines = text?.split('\n') ?? [];
  return new Map(lines.map((line) => line.split(' ')).map(([name = '', value]) => [name, Number(value)] as const));
}

async function usedMemory(): Promise<number | undefined> {
  const text = (await kernelFileText('/proc/meminfo')) ?? '';
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  const used = bytes('MemTotal') - bytes('MemFree');
  return Number.isFinite(used) ? used : undefined;
}

/** Undefined where there is nothing. */
async function changedAtMs(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/** Undefined where there is none, or where it is larger than any file of the kernel that is read here. */
export async function kernelFileText(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text !== undefined && text.length <= mebibyte ? text : undefined;
}

/** The files of block devices by the numbers of the kernel. */
class BlockDevices {
  readonly #sys: string;
  readonly #names = new Map<string, Promise<string | undefined>>();

  constructor(sys: string) {
    this.#sys = sys;
  }

  /** Such as `/dev/sda`; undefined for a device that is none, or gone. */
  nameOf(device: string): Promise<string | undefined> {
    const known = this.#names.get(device);
    if (known !== undefined) return known;
    if (this.#names.size >= 10 * mostDevices) this.#names.clear();
    const name = this.#read(device);
    this.#names.set(device, name);
    return name;
  }

  async #read(device: string): Promise<string | undefined> {
    if (!/^\d+:\d+$/.test(device)) return undefined;
    const name = /^DEVNAME=(\S+)$/m.exec((await kernelFileText(`${this.#sys}/dev/block/${device}/uevent`)) ?? '')?.[1];
    return name === undefined ? undefined : `/dev/${name}`;
  }
}
