import type { PodSandboxStats } from '../../kubelet/runtime/runtime-containers.ts';
import type { PodSandboxConfig, PodSandboxDetails, PodSandboxRecord } from '../../kubelet/runtime/runtime-sandboxes.ts';
import type { FakeContainer } from './fake-container.ts';

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
