import { createHash } from 'node:crypto';
import type { SteadyClock } from '../../base/clock.ts';
import { invalidArgument } from '../../base/errors.ts';
import {
  type ContainerFilter,
  RuntimeError,
  type RuntimeEvent,
  type SandboxFilter,
} from '../../kubelet/runtime/container-runtime.ts';
import type { ContainerConfig, ContainerStats, PodSandboxStats } from '../../kubelet/runtime/runtime-containers.ts';
import {
  type PodSandboxConfig,
  type PodSandboxDetails,
  type PodSandboxRecord,
  runtimeLabels,
} from '../../kubelet/runtime/runtime-sandboxes.ts';
import { type ContainerLife, FakeContainer, type LifeRequest, stateWord } from './fake-container.ts';
import type { FakeImages } from './fake-images.ts';
import type { RuntimeFiles } from './runtime-files.ts';

/** Something that happened to a sandbox or a container of a {@link FakeRuntime}, whether or not an event told of it. */
export interface RuntimeHappening {
  /** What happened. */
  readonly type: RuntimeEvent['type'];
  /** What it happened to. */
  readonly what: 'sandbox' | 'container';
  /** The id of the sandbox or the container. */
  readonly id: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  /** The pod's `metadata.uid`. */
  readonly podUID: string;
  /** The name of the pod, or of the container. */
  readonly name: string;
  /** How often it had been made before. */
  readonly attempt: number;
  /** How a container has ended: with `stopped`, and with `deleted` if it was started. */
  readonly exitCode?: number;
}

export interface FakePodsOptions {
  readonly clock: SteadyClock;
  readonly podCIDR: string;
  readonly runtimeHandlers: readonly string[];
  readonly lives: (request: LifeRequest) => ContainerLife;
  readonly files: RuntimeFiles | undefined;
  readonly images: FakeImages;
  readonly happened: (happening: RuntimeHappening, sandbox: FakeSandbox) => void;
}

/** The sandboxes and containers that the runtime has. Every method takes effect at once. */
export class FakePods {
  readonly #options: FakePodsOptions;
  readonly #sandboxes = new Map<string, FakeSandbox>();
  readonly #containers = new Map<string, FakeContainer>();
  #addresses: AddressPool;
  #made = 0;

  constructor(options: FakePodsOptions) {
    this.#options = options;
    this.#addresses = new AddressPool(options.podCIDR);
  }

  /** The addresses of sandboxes that are made from now on. */
  setPodCIDR(podCIDR: string): void {
    this.#addresses = new AddressPool(podCIDR);
  }

  run(config: PodSandboxConfig, runtimeHandler: string): string {
    const { clock, runtimeHandlers } = this.#options;
    if (!runtimeHandlers.includes(runtimeHandler)) {
      throw new RuntimeError('failed', 'RunPodSandbox', `no runtime for "${runtimeHandler}" is configured`);
    }
    const name = sandboxName(config);
    const rival = [...this.#sandboxes.values()].find((sandbox) => sandboxName(sandbox.config) === name);
    if (rival !== undefined) throw taken('RunPodSandbox', 'sandbox', name, rival.id);
    const isHostNetwork = config.linux.securityContext.namespaces.network === 'node';
    const ip = isHostNetwork ? undefined : this.#addresses.take();
    if (!isHostNetwork && ip === undefined)
      throw new RuntimeError('failed', 'RunPodSandbox', 'no IP addresses available in range');
    const sandbox = new FakeSandbox(this.#newID(), config, runtimeHandler, clock.now(), ip === undefined ? [] : [ip]);
    this.#sandboxes.set(sandbox.id, sandbox);
    this.#tellOfSandbox(sandbox, 'created');
    this.#tellOfSandbox(sandbox, 'started');
    return sandbox.id;
  }

  stop(sandboxID: string): void {
    const sandbox = this.#sandboxes.get(sandboxID);
    if (sandbox === undefined) return;
    for (const container of sandbox.containers.values()) container.kill();
    if (!sandbox.isReady) return;
    for (const ip of sandbox.ips) this.#addresses.giveBack(ip);
    sandbox.end();
    this.#tellOfSandbox(sandbox, 'stopped');
  }

  remove(sandboxID: string): void {
    this.stop(sandboxID);
    const sandbox = this.#sandboxes.get(sandboxID);
    if (sandbox === undefined) return;
    for (const containerID of [...sandbox.containers.keys()]) this.removeContainer(containerID);
    this.#sandboxes.delete(sandboxID);
    this.#tellOfSandbox(sandbox, 'deleted');
  }

  sandbox(sandboxID: string, call: string): FakeSandbox {
    const sandbox = this.#sandboxes.get(sandboxID);
    if (sandbox !== undefined) return sandbox;
    throw new RuntimeError('not-found', call, `an error occurred when try to find sandbox: ${sandboxID}: not found`);
  }

  /** The sandbox, if it can take containers. */
  readySandbox(sandboxID: string, call: string): FakeSandbox {
    const sandbox = this.sandbox(sandboxID, call);
    if (sandbox.isReady) return sandbox;
    throw new RuntimeError('failed', call, `sandbox container "${sandboxID}" is not running`);
  }

  sandboxes({ podUID, ready }: SandboxFilter = {}): FakeSandbox[] {
    const fits = ({ config, isReady }: FakeSandbox) =>
      (podUID ?? labelledPodUID(config)) === labelledPodUID(config) && (ready ?? isReady) === isReady;
    return [...this.#sandboxes.values()].filter(fits);
  }

  create(sandboxID: string, config: ContainerConfig): string {
    const { lives, clock, files, images } = this.#options;
    const sandbox = this.readySandbox(sandboxID, 'CreateContainer');
    const found = images.find(config.image.image);
    if (found === undefined) {
      throw new RuntimeError(
        'not-found',
        'CreateContainer',
        `failed to get image from containerd "${config.image.image}": not found`,
      );
    }
    const { name, attempt } = config.metadata;
    const rival = [...sandbox.containers.values()].find(
      ({ options }) => options.config.metadata.name === name && options.config.metadata.attempt === attempt,
    );
    const fullName = `${name}_${sandboxName(sandbox.config).replace(/_\d+$/, '')}_${attempt}`;
    if (rival !== undefined) throw taken('CreateContainer', 'container', fullName, rival.options.id);
    const { id: imageID, repoDigests } = found.image;
    const parts = {
      id: this.#newID(),
      sandboxID,
      config,
      image: { name: found.name, ref: repoDigests[0] ?? imageID, id: imageID },
      logPath: config.logPath === '' ? '' : `${sandbox.config.logDirectory}/${config.logPath}`,
      life: lives({ sandbox: sandbox.config, config, attempt }),
    };
    const changed = (of: FakeContainer, type: 'started' | 'stopped') => this.#tellOfContainer(sandbox, of, type);
    const container = new FakeContainer(parts, { clock, files, changed });
    sandbox.containers.set(parts.id, container);
    this.#containers.set(parts.id, container);
    this.#tellOfContainer(sandbox, container, 'created');
    return parts.id;
  }

  start(containerID: string): void {
    const container = this.container(containerID, 'StartContainer');
    this.readySandbox(container.options.sandboxID, 'StartContainer');
    container.start();
  }

  removeContainer(containerID: string): void {
    const container = this.#containers.get(containerID);
    const sandbox = container && this.#sandboxes.get(container.options.sandboxID);
    if (container === undefined || sandbox === undefined) return;
    container.kill();
    container.forget();
    sandbox.containers.delete(containerID);
    this.#containers.delete(containerID);
    this.#tellOfContainer(sandbox, container, 'deleted');
  }

  /** The container; undefined where it is not there. */
  find(containerID: string): FakeContainer | undefined {
    return this.#containers.get(containerID);
  }

  container(containerID: string, call: string): FakeContainer {
    const container = this.#containers.get(containerID);
    if (container !== undefined) return container;
    throw new RuntimeError('not-found', call, `an error occurred when try to find container "${containerID}": not found`);
  }

  /** The container, if it runs. */
  runningContainer(containerID: string, call: string): FakeContainer {
    const container = this.container(containerID, call);
    if (container.state === 'running') return container;
    throw new RuntimeError('failed', call, `container is in ${stateWord(container.state)} state`);
  }

  containers({ podUID, sandboxID, containerID }: ContainerFilter = {}): FakeContainer[] {
    const fits = ({ options: { id, sandboxID: of, config } }: FakeContainer) => {
      const uid = config.labels[runtimeLabels.podUID];
      return (containerID ?? id) === id && (sandboxID ?? of) === of && (podUID ?? uid) === uid;
    };
    return [...this.#containers.values()].filter(fits);
  }

  /** What the running containers take. */
  stats(filter?: ContainerFilter): ContainerStats[] {
    const running = this.containers(filter).filter(({ state }) => state === 'running');
    return running.map((container) => container.stats());
  }

  /** Ends every timer. */
  forget(): void {
    for (const container of this.#containers.values()) container.forget();
  }

  #tellOfSandbox(sandbox: FakeSandbox, type: RuntimeEvent['type']): void {
    const { uid: podUID, name, attempt } = sandbox.config.metadata;
    const { clock, happened } = this.#options;
    happened({ type, what: 'sandbox', id: sandbox.id, at: clock.now(), podUID, name, attempt }, sandbox);
  }

  #tellOfContainer(sandbox: FakeSandbox, container: FakeContainer, type: RuntimeEvent['type']): void {
    const { id, config } = container.options;
    const { name, attempt } = config.metadata;
    const { state, exitCode } = container.details();
    const { clock, happened } = this.#options;
    const happening = {
      type,
      what: 'container',
      id,
      at: clock.now(),
      podUID: sandbox.config.metadata.uid,
      name,
      attempt,
    } as const;
    happened(state === 'exited' ? { ...happening, exitCode } : happening, sandbox);
  }

  #newID(): string {
    this.#made += 1;
    return createHash('sha256').update(String(this.#made)).digest('hex');
  }
}

function labelledPodUID({ labels }: PodSandboxConfig): string | undefined {
  return labels[runtimeLabels.podUID];
}

function sandboxName({ metadata: { name, namespace, uid, attempt } }: PodSandboxConfig): string {
  return `${name}_${namespace}_${uid}_${attempt}`;
}

function taken(call: string, what: string, name: string, rival: string): RuntimeError {
  return new RuntimeError(
    'already-exists',
    call,
    `failed to reserve ${what} name "${name}": name "${name}" is reserved for "${rival}"`,
  );
}

/** One sandbox with its containers, by their ids. */
export class FakeSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: number;
  readonly containers = new Map<string, FakeContainer>();
  #isReady = true;
  #ips: readonly string[];

  constructor(id: string, config: PodSandboxConfig, runtimeHandler: string, createdAt: number, ips: readonly string[]) {
    this.id = id;
    this.config = config;
    this.runtimeHandler = runtimeHandler;
    this.createdAt = createdAt;
    this.#ips = ips;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get ips(): readonly string[] {
    return this.#ips;
  }

  /** It takes no containers any more, and has no address. */
  end(): void {
    this.#isReady = false;
    this.#ips = [];
  }

  record(): PodSandboxRecord {
    const { id, createdAt, runtimeHandler } = this;
    const { metadata, labels, annotations } = this.config;
    return { id, metadata, state: this.#isReady ? 'ready' : 'notready', createdAt, labels, annotations, runtimeHandler };
  }

  details(): PodSandboxDetails {
    return { ...this.record(), ips: this.#ips, namespaces: this.config.linux.securityContext.namespaces };
  }

  stats(at: number): PodSandboxStats {
    const running = [...this.containers.values()].filter(({ state }) => state === 'running');
    const containers = running.map((container) => container.stats());
    const sum = (name: 'cpuNanocores' | 'cpuNanoseconds' | 'memoryWorkingSetBytes' | 'memoryUsageBytes' | 'memoryRssBytes') =>
      containers.reduce((total, container) => total + (container[name] ?? 0), 0);
    return {
      sandboxID: this.id,
      labels: this.config.labels,
      at,
      cpuNanocores: sum('cpuNanocores'),
      cpuNanoseconds: sum('cpuNanoseconds'),
      memoryWorkingSetBytes: sum('memoryWorkingSetBytes'),
      memoryUsageBytes: sum('memoryUsageBytes'),
      memoryRssBytes: sum('memoryRssBytes'),
      receivedBytes: 0,
      sentBytes: 0,
      processes: running.length + 1,
      containers,
    };
  }
}

/** The IPv4 addresses of a range, such as `10.0.0.0/24`. The first two and the last one are never given. */
class AddressPool {
  readonly #base: number;
  readonly #size: number;
  #next = 2;
  readonly #given = new Set<string>();

  constructor(range: string) {
    const { base, size } = parseRange(range);
    this.#base = base;
    this.#size = size;
  }

  /** An address that nobody has; undefined when there is none. Addresses are given in turn, so that one is not used again soon. */
  take(): string | undefined {
    for (let tried = 2; tried < this.#size - 1; tried += 1) {
      const address = textOf(this.#base + this.#next);
      this.#next = this.#next + 1 < this.#size - 1 ? this.#next + 1 : 2;
      if (this.#given.has(address)) continue;
      this.#given.add(address);
      return address;
    }
    return undefined;
  }

  giveBack(address: string): void {
    this.#given.delete(address);
  }
}

function parseRange(range: string): { readonly base: number; readonly size: number } {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(range);
  const [, ...numbers] = (match ?? []).map(Number);
  const [a = 256, b = 256, c = 256, d = 256, bits = 0] = numbers;
  if (Math.max(a, b, c, d) > 255 || bits < 8 || bits > 29) {
    throw invalidArgument('podCIDR', 'a range of IPv4 addresses such as 10.0.0.0/24, from /8 to /29', range);
  }
  const size = 2 ** (32 - bits);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  return { base: address - (address % size), size };
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
