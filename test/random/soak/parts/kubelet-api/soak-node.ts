import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BasicPodManager, type Pod } from '../../../../../src/index.ts';
import { AgentApiHost } from '../../../../../src/kubelet/agent/agent-api-host.ts';
import type { ResolvedAgentOptions } from '../../../../../src/kubelet/agent/node-agent-options.ts';
import { noPodCgroups } from '../../../../../src/kubelet/machine/machine.ts';
import type { PodLifecycle } from '../../../../../src/kubelet/pleg/pod-lifecycle.ts';
import type { ContainerRuntime, KubeletApiHost } from '../../../../../src/kubelet.ts';
import { buildContainerStatus, buildPod, FakeRuntime } from '../../../../../src/testing.ts';
import { quietLifecycle } from '../../../../support/quiet-lifecycle.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../../support/runtime-configs.ts';
import { nodeName, type SoakWorld } from '../../soak-world.ts';

type Call = { readonly signal?: AbortSignal | undefined } | undefined;

/** A runtime in memory whose streams are served. It takes note of the signals that calls bring: none may outlive its request. */
class StreamingRuntime extends FakeRuntime {
  readonly #world: SoakWorld;
  readonly #url: string;

  constructor(world: SoakWorld, url: string) {
    super({ clock: world.partClock, images: ['busybox'], exec: () => ({ stdout: 'done' }) });
    this.#world = world;
    this.#url = url;
  }

  /** How the stream behaves is the command's first word. */
  override async exec(...[id, command, stream, call]: Parameters<ContainerRuntime['exec']>): Promise<string> {
    this.#note(call);
    await super.exec(id, command, stream, call);
    return `${this.#url}/${command[0]}`;
  }

  override async attach(...[id, stream, call]: Parameters<ContainerRuntime['attach']>): Promise<string> {
    this.#note(call);
    await super.attach(id, stream, call);
    return `${this.#url}/echo`;
  }

  override async portForward(...[id, ports, call]: Parameters<ContainerRuntime['portForward']>): Promise<string> {
    this.#note(call);
    await super.portForward(id, ports, call);
    return `${this.#url}/echo`;
  }

  override execSync(...given: Parameters<ContainerRuntime['execSync']>) {
    this.#note(given[3]);
    return super.execSync(...given);
  }

  override containerStatus(...given: Parameters<ContainerRuntime['containerStatus']>) {
    this.#note(given[1]);
    return super.containerStatus(...given);
  }

  override listPodSandboxStats(...given: Parameters<ContainerRuntime['listPodSandboxStats']>) {
    this.#note(given[1]);
    return super.listPodSandboxStats(...given);
  }

  #note(call: Call): void {
    if (call?.signal !== undefined) this.#world.expectGone(call.signal);
  }
}

/** A pod that runs on the node. */
export interface SoakPod {
  readonly pod: Pod;
  /** `default/pod-UID`. */
  readonly name: string;
  readonly sandboxID: string;
  readonly containerID: string;
  readonly logPath: string;
}

/** What the API shows: an agent's pods over a runtime in memory, with log files on the disk. */
export class SoakNode {
  readonly host: KubeletApiHost;
  readonly #world: SoakWorld;
  readonly #folder: string;
  readonly #runtime: StreamingRuntime;
  readonly #podManager = new BasicPodManager();
  readonly #lifecycle: PodLifecycle;

  /** `url`: where the streams of the runtime are served. */
  constructor(world: SoakWorld, folder: string, url: string) {
    const { partClock: clock } = world;
    this.#world = world;
    this.#folder = folder;
    this.#runtime = new StreamingRuntime(world, url);
    this.#lifecycle = quietLifecycle(this.#runtime, clock);
    const given = { runtime: this.#runtime, metricsText: () => 'up 1\n' };
    const settings = { rootDirectory: folder, syncFrequencyMs: 60_000 };
    const agent = { nodeName, given, settings, podManager: this.#podManager, clock } as unknown as ResolvedAgentOptions;
    this.host = new AgentApiHost(agent, {
      pleg: this.#lifecycle,
      statusManager: { getPodStatus: () => undefined },
      cpu: { nanoCores: undefined },
      allocationManager: { memoryLimitsOf: () => () => undefined },
      garbageCollection: { filesOf: () => undefined },
      volumes: { usages: async () => [] },
      loop: { lastIterationAt: () => clock.now() },
      cgroups: noPodCgroups,
    });
  }

  async start(): Promise<void> {
    this.#lifecycle.start();
    await this.#world.pass(1000);
  }

  async add(uid: string, lines: readonly string[]): Promise<SoakPod> {
    const logDirectory = join(this.#folder, uid);
    await mkdir(join(logDirectory, 'app'), { recursive: true });
    const sandbox = sandboxConfigOf(uid, 0, { logDirectory });
    const config = containerConfigOf(uid);
    const sandboxID = await this.#runtime.runPodSandbox(sandbox, '');
    const containerID = await this.#runtime.createContainer(sandboxID, config, sandbox);
    await this.#runtime.startContainer(containerID);
    const { logPath } = await this.#runtime.containerStatus(containerID);
    await writeFile(logPath, lines.map(logLine).join(''));
    const pod = podOf(uid, containerID);
    this.#podManager.addPod(pod);
    return { pod, name: `default/pod-${uid}`, sandboxID, containerID, logPath };
  }

  async write({ logPath }: SoakPod, ...lines: readonly string[]): Promise<void> {
    await appendFile(logPath, lines.map(logLine).join(''));
  }

  /** The container ends; its log stays. */
  end({ containerID }: SoakPod): void {
    this.#runtime.killContainer(containerID);
  }

  /** Nothing is left of the pod. */
  async remove({ pod, sandboxID }: SoakPod): Promise<void> {
    this.#podManager.removePod(pod);
    await this.#runtime.stopPodSandbox(sandboxID);
    await this.#runtime.removePodSandbox(sandboxID);
    await rm(join(this.#folder, pod.metadata?.uid ?? ''), { recursive: true });
  }

  /** The runtime in memory forgets what was done with it. */
  forgetHistory(): void {
    this.#runtime.clearCalls();
    (this.#runtime.history as unknown[]).length = 0;
  }

  async stop(): Promise<void> {
    await this.#world.awaited(this.#lifecycle.stop());
    await this.#runtime.close();
  }
}

function logLine(text: string): string {
  return `2030-01-01T00:00:00.000000000Z stdout F ${text}\n`;
}

function podOf(uid: string, containerID: string): Pod {
  const containerStatuses = [buildContainerStatus({ containerID: `fake://${containerID}` })];
  const metadata = { name: `pod-${uid}`, uid, annotations: { text: 'x'.repeat(300) } };
  return buildPod({ metadata, spec: { containers: [{ name: 'app', image: 'busybox' }] }, status: { containerStatuses } });
}
