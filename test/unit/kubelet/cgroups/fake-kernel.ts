import type { CgroupFiles } from '../../../../src/kubelet/cgroups/cgroup-files.ts';

interface Group {
  readonly files: Map<string, string>;
  readonly processes: Set<number>;
}

const controllersV1 = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb'];

function kernelError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** What the kernel does with the folders of cgroups, in memory: files come with their folder, and rules hold. */
export class FakeKernel implements CgroupFiles {
  readonly version: 1 | 2;
  readonly groups = new Map<string, Group>();
  /** What was written, in order: `path = text`. */
  readonly written: string[] = [];
  /** Processes that a kill does not end. */
  readonly stubborn = new Set<number>();
  readonly killed: number[] = [];
  /** Answers a write instead of the kernel. */
  refuse: ((path: string, text: string) => string | undefined) | undefined;

  constructor(version: 1 | 2, controllers: readonly string[] = controllersV1) {
    this.version = version;
    if (version === 2) {
      this.#add(
        '/cg',
        new Map([
          ['cgroup.controllers', controllers.join(' ')],
          ['cgroup.subtree_control', ''],
        ]),
      );
      return;
    }
    this.groups.set('/cg', { files: new Map(), processes: new Set() });
    for (const controller of controllers) this.#add(`/cg/${controller}`, this.#filesOf(`/cg/${controller}`, true));
    this.#add('/cg/unified', new Map([['cgroup.controllers', '']]));
  }

  async read(path: string): Promise<string | undefined> {
    const [folder, name] = split(path);
    const group = this.groups.get(folder);
    return name === 'cgroup.procs' && group !== undefined ? [...group.processes].join('\n') : group?.files.get(name);
  }

  async write(path: string, text: string): Promise<void> {
    const code = this.refuse?.(path, text);
    if (code !== undefined) throw kernelError(code, path);
    const [folder, name] = split(path);
    const files = this.groups.get(folder)?.files;
    if (files?.has(name) !== true) throw kernelError('ENOENT', path);
    if (name === 'cgroup.subtree_control') this.#enable(folder, text);
    else files.set(name, text);
    this.written.push(`${path} = ${text}`);
  }

  async makeFolder(path: string): Promise<void> {
    if (this.groups.has(path)) return;
    if (!this.groups.has(split(path)[0])) throw kernelError('ENOENT', path);
    this.#add(path, this.#filesOf(path, false));
  }

  async removeFolder(path: string): Promise<void> {
    if (!this.groups.has(path)) return;
    const isBusy = [...this.groups.keys()].some((other) => other.startsWith(`${path}/`));
    if (isBusy || (this.groups.get(path)?.processes.size ?? 0) > 0) throw kernelError('EBUSY', path);
    this.groups.delete(path);
  }

  async foldersIn(path: string): Promise<readonly string[] | undefined> {
    if (!this.groups.has(path)) return undefined;
    return [...this.groups.keys()].filter((other) => split(other)[0] === path).map((other) => split(other)[1]);
  }

  kill(pid: number): void {
    this.killed.push(pid);
    if (this.stubborn.has(pid)) return;
    for (const { processes } of this.groups.values()) processes.delete(pid);
  }

  /** Somebody else ends what runs in a group, except for stubborn processes. */
  end(folder: string): void {
    const { processes } = this.groups.get(folder) ?? {};
    for (const pid of processes ?? []) if (!this.stubborn.has(pid)) processes?.delete(pid);
  }

  /** Puts a process into a group. */
  run(folder: string, pid: number): void {
    this.groups.get(folder)?.processes.add(pid);
  }

  #add(path: string, files: Map<string, string>): void {
    this.groups.set(path, { files, processes: new Set() });
  }

  #enable(folder: string, text: string): void {
    const group = this.groups.get(folder) as Group;
    if (folder !== '/cg' && group.processes.size > 0) throw kernelError('EBUSY', folder);
    const controller = text.slice(1);
    const before = (group.files.get('cgroup.subtree_control') ?? '').split(' ').filter((name) => name !== '');
    group.files.set('cgroup.subtree_control', [...before, controller].join(' '));
  }

  #filesOf(path: string, isRoot: boolean): Map<string, string> {
    return new Map(Object.entries(this.version === 1 ? filesV1(path, isRoot) : this.#filesV2(path)));
  }

  #filesV2(path: string): Record<string, string> {
    const given = this.groups.get(split(path)[0])?.files.get('cgroup.subtree_control') ?? '';
    const has = (controller: string) => given.split(' ').includes(controller);
    return {
      'cgroup.controllers': given,
      'cgroup.subtree_control': '',
      ...(has('cpu') && { 'cpu.weight': '100', 'cpu.max': 'max 100000', 'cpu.stat': 'usage_usec 7\nuser_usec 3\n' }),
      ...(has('memory') && {
        'memory.max': 'max',
        'memory.min': '0',
        'memory.low': '0',
        'memory.current': '900',
        'memory.stat': 'anon 500\ninactive_file 300\n',
      }),
      ...(has('pids') && { 'pids.max': 'max' }),
      ...(has('hugetlb') && { 'hugetlb.2MB.max': 'max' }),
    };
  }
}

function filesV1(path: string, isRoot: boolean): Record<string, string> {
  switch (path.split('/')[2]) {
    case 'cpu':
      return { 'cpu.shares': '1024', 'cpu.cfs_quota_us': '-1', 'cpu.cfs_period_us': '100000' };
    case 'cpuacct':
      return { 'cpuacct.usage': '7000' };
    case 'cpuset':
      return { 'cpuset.cpus': isRoot ? '0-1' : '', 'cpuset.mems': isRoot ? '0' : '' };
    case 'memory':
      return {
        'memory.limit_in_bytes': '9223372036854771712',
        'memory.usage_in_bytes': '900',
        'memory.stat': 'rss 1\ntotal_rss 500\ntotal_inactive_file 300\n',
      };
    case 'hugetlb':
      return { 'hugetlb.2MB.limit_in_bytes': '9223372036854771712' };
    default:
      return { 'pids.max': 'max' };
  }
}

function split(path: string): [string, string] {
  const end = path.lastIndexOf('/');
  return [path.slice(0, end), path.slice(end + 1)];
}
