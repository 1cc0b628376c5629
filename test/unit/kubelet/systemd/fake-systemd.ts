import {
  type BusCall,
  type BusConnection,
  type OpenSystemBus,
  SystemBusError,
} from '../../../../src/kubelet/systemd/system-bus.ts';
import type { UnitProperty } from '../../../../src/kubelet/systemd/systemd-units.ts';
import type { FakeKernel } from '../cgroups/fake-kernel.ts';

type Values = Map<string, unknown>;
type Listener = (body: readonly unknown[]) => void;

/** What systemd refuses with, by the short name of the error. */
export function refusal(name: string, message = name): SystemBusError {
  const prefix = name.includes('.') ? '' : 'org.freedesktop.systemd1.';
  return new SystemBusError(message, { refusal: `${prefix}${name}` });
}

const noLimit = 2n ** 64n - 1n;

/** What systemd does with slices and scopes, in memory: it keeps properties, and makes groups of a fake kernel from them. */
export class FakeSystemd {
  readonly kernel: FakeKernel;
  /** The units that it has loaded, with their properties. Those in `active` run. */
  readonly units = new Map<string, Values>();
  readonly active = new Set<string>();
  readonly failed = new Set<string>();
  /** What was called, as `StopUnit a.slice`. */
  readonly calls: string[] = [];
  /** How many connections were opened. */
  opened = 0;
  /** Rejects the opening of a connection. */
  away: Error | undefined;
  /** Rejects a call before anything is done. */
  refuse: ((member: string, unit: string) => Error | undefined) | undefined;
  /** Calls of this name, or the opening with `open`, never get an answer. */
  readonly hanging = new Set<string>();
  /** True: nobody is told that a job has ended. */
  isMute = false;
  /** How the next jobs end. */
  result = 'done';
  /** Jobs that have not ended. */
  readonly jobs = new Set<number>();
  /** True: jobs go on until `endJobs`. */
  holdsJobs = false;
  versionText = '252.39-1~deb12u2';
  readonly #connections = new Set<FakeConnection>();
  #lastJob = 0;

  constructor(kernel: FakeKernel) {
    this.kernel = kernel;
  }

  readonly open: OpenSystemBus = async () => {
    this.opened += 1;
    if (this.hanging.has('open')) return new Promise<never>(() => {});
    if (this.away !== undefined) throw this.away;
    const connection = new FakeConnection((call) => this.#answer(call));
    this.#connections.add(connection);
    return connection;
  };

  /** The connections that nobody has closed. */
  get connections(): number {
    return [...this.#connections].filter(({ gone }) => !gone.aborted).length;
  }

  /** All connections go, as when the bus is started anew. */
  drop(): void {
    for (const connection of this.#connections) connection.close();
    this.#connections.clear();
  }

  /** Makes all groups anew from what it has kept, as a reload does. */
  async reload(): Promise<void> {
    for (const unit of this.active) await this.#realize(unit);
  }

  /** A scope with a process in it, as the runtime makes one for a container. */
  async runScope(name: string, slice: string, pid: number): Promise<void> {
    this.units.set(name, new Map([['Slice', slice]]));
    this.active.add(name);
    for (const folder of this.#foldersOf(slice)) {
      await this.kernel.makeFolder(`${folder}/${name}`);
      this.kernel.run(`${folder}/${name}`, pid);
    }
  }

  /** A slice that somebody else has made. */
  async startSlice(name: string, memoryBytes: number): Promise<void> {
    this.units.set(name, new Map([['MemoryMax', BigInt(memoryBytes)]]));
    this.active.add(name);
    await this.#realize(name);
  }

  /** The units that it knows by such names. */
  named(pattern: string): readonly string[] {
    const matches = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    return [...this.units.keys()].filter((unit) => matches.test(unit));
  }

  endJobs(): void {
    for (const job of this.jobs) this.#tell(job, '');
    this.jobs.clear();
  }

  async #answer({ member, body = [] }: BusCall): Promise<unknown> {
    const unit = String(body[0] ?? '');
    if (member !== 'Subscribe') this.calls.push(`${member} ${unit}`);
    const refused = this.refuse?.(member, unit);
    if (refused !== undefined) throw refused;
    if (this.hanging.has(member)) return new Promise<never>(() => {});
    return this.#do(member, unit, body);
  }

  async #do(member: string, unit: string, body: readonly unknown[]): Promise<unknown> {
    switch (member) {
      case 'StartTransientUnit':
        if (this.units.has(unit)) throw refusal('UnitExists', `Unit ${unit} was already loaded or has a fragment file.`);
        this.units.set(unit, new Map());
        this.#keep(unit, body[2]);
        return this.#start(unit);
      case 'StartUnit':
        return this.#start(unit);
      case 'SetUnitProperties':
        this.#keep(unit, body[2]);
        if (this.active.has(unit)) await this.#realize(unit);
        return undefined;
      case 'StopUnit':
        if (!this.units.has(unit)) throw refusal('NoSuchUnit', `Unit ${unit} not loaded.`);
        return this.#stop(unit);
      case 'ResetFailedUnit':
        if (!this.failed.delete(unit)) throw refusal('NoSuchUnit', `Unit ${unit} not loaded.`);
        this.units.delete(unit);
        return undefined;
      case 'ListUnitsByPatterns':
        return this.#list(body[1]);
      case 'GetJob':
        if (!this.jobs.has(Number(body[0]))) throw refusal('NoSuchJob');
        return `/org/freedesktop/systemd1/job/${unit}`;
      case 'Get':
        return this.versionText;
      default:
        return undefined;
    }
  }

  #list(patterns: unknown): unknown {
    const [pattern = ''] = patterns as readonly string[];
    const state = (unit: string) => (this.failed.has(unit) ? 'failed' : this.active.has(unit) ? 'active' : 'inactive');
    return this.named(pattern).map((unit) => [unit, '', 'loaded', state(unit), '', '']);
  }

  async #start(unit: string): Promise<string> {
    if (this.result === 'done') {
      this.active.add(unit);
      await this.#realize(unit);
    }
    return this.#job(unit);
  }

  async #stop(unit: string): Promise<string> {
    this.active.delete(unit);
    for (const [other, values] of this.units) {
      if (values.get('Slice') !== unit) continue;
      this.active.delete(other);
      this.failed.add(other);
    }
    for (const folder of this.#foldersOf(unit)) {
      const below = ((await this.kernel.foldersIn(folder)) ?? []).map((name) => `${folder}/${name}`);
      for (const path of [...below, folder]) {
        this.kernel.end(path);
        // systemd leaves a group that something is in
        await this.kernel.removeFolder(path).catch(() => {});
      }
    }
    this.units.delete(unit);
    return this.#job(unit);
  }

  #job(unit: string): string {
    this.#lastJob += 1;
    const job = this.#lastJob;
    if (this.holdsJobs) this.jobs.add(job);
    // the answer to the call comes before its signal
    else queueMicrotask(() => this.#tell(job, unit));
    return `/org/freedesktop/systemd1/job/${job}`;
  }

  #tell(job: number, unit: string): void {
    if (this.isMute) return;
    for (const connection of this.#connections) {
      connection.tell([job, `/org/freedesktop/systemd1/job/${job}`, unit, this.result]);
    }
  }

  #keep(unit: string, properties: unknown): void {
    const values = this.units.get(unit) ?? new Map<string, unknown>();
    for (const [name, [, value]] of properties as readonly UnitProperty[]) values.set(name, value);
    this.units.set(unit, values);
  }

  #foldersOf(unit: string): readonly string[] {
    const parts = unit.replace(/\.slice$/, '').split('-');
    const path = parts.map((_, index) => `/${parts.slice(0, index + 1).join('-')}.slice`).join('');
    return this.kernel.version === 2 ? [`/cg${path}`] : ['cpu', 'memory', 'pids'].map((controller) => `/cg/${controller}${path}`);
  }

  /** systemd only logs what the kernel refuses. */
  async #realize(unit: string): Promise<void> {
    if (!unit.endsWith('.slice')) return;
    for (const folder of this.#foldersOf(unit)) {
      const parts = folder.split('/');
      const first = this.kernel.version === 2 ? 3 : 4;
      for (let end = first; end <= parts.length; end += 1) {
        const parent = parts.slice(0, end - 1).join('/');
        if (this.kernel.version === 2) {
          for (const controller of ['cpu', 'memory', 'pids']) {
            await this.kernel.write(`${parent}/cgroup.subtree_control`, `+${controller}`).catch(() => {});
          }
        }
        await this.kernel.makeFolder(parts.slice(0, end).join('/'));
      }
      for (const [file, text] of this.#textsOf(unit)) await this.kernel.write(`${folder}/${file}`, text).catch(() => {});
    }
  }

  #textsOf(unit: string): readonly (readonly [string, string])[] {
    const values = this.units.get(unit) ?? new Map<string, unknown>();
    const texts: [string, string][] = [];
    const put = (name: string, file: string, none = 'max') => {
      const value = values.get(name);
      if (value !== undefined) texts.push([file, value === noLimit ? none : String(value)]);
    };
    put('MemoryMax', 'memory.max');
    put('MemoryMin', 'memory.min');
    put('MemoryHigh', 'memory.high');
    put('MemoryLimit', 'memory.limit_in_bytes', '-1');
    put('CPUWeight', 'cpu.weight');
    put('CPUShares', 'cpu.shares');
    put('TasksMax', 'pids.max');
    const perSecond = values.get('CPUQuotaPerSecUSec');
    const period = (values.get('CPUQuotaPeriodUSec') as bigint | undefined) ?? 100_000n;
    if (typeof perSecond === 'bigint') {
      const quota = perSecond === noLimit ? undefined : (perSecond * period) / 1_000_000n;
      texts.push(['cpu.max', `${quota ?? 'max'} ${period}`]);
      texts.push(['cpu.cfs_period_us', String(period)], ['cpu.cfs_quota_us', String(quota ?? -1)]);
    }
    return texts;
  }
}

class FakeConnection implements BusConnection {
  readonly #answer: (call: BusCall) => Promise<unknown>;
  readonly #gone = new AbortController();
  readonly #listeners: Listener[] = [];

  constructor(answer: (call: BusCall) => Promise<unknown>) {
    this.#answer = answer;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async call(call: BusCall, signal: AbortSignal): Promise<unknown> {
    this.gone.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    for (const one of [signal, this.gone]) one.addEventListener('abort', () => reject(one.reason), { once: true });
    return Promise.race([promise, this.#answer(call)]);
  }

  async listen(_to: unknown, listener: Listener): Promise<void> {
    this.#listeners.push(listener);
  }

  tell(body: readonly unknown[]): void {
    for (const listener of this.#listeners) listener(body);
  }

  close(): void {
    this.#gone.abort(new SystemBusError('the connection was closed', { isLost: true }));
  }
}
