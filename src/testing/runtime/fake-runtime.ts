import type { CancelTimer } from '../../base/clock.ts';
import {
  type ContainerFilter,
  type ContainerRuntime,
  type ExecSyncResult,
  longestExecOutput,
  type PullImageOptions,
  type RuntimeCall,
  type RuntimeCondition,
  RuntimeError,
  type RuntimeEvent,
  type RuntimeHealth,
  type RuntimeVersion,
  type SandboxFilter,
  type StreamRequest,
} from '../../kubelet/runtime/container-runtime.ts';
import type {
  ContainerConfig,
  ContainerDetails,
  ContainerRecord,
  ContainerStats,
  LinuxContainerResources,
  PodSandboxStats,
} from '../../kubelet/runtime/runtime-containers.ts';
import type { FilesystemUsage, RuntimeImage } from '../../kubelet/runtime/runtime-images.ts';
import type { PodSandboxConfig, PodSandboxDetails, PodSandboxRecord } from '../../kubelet/runtime/runtime-sandboxes.ts';
import { FaultRules } from '../fault-rules.ts';
import { EventStreams } from './event-streams.ts';
import type { ContainerEnd } from './fake-container.ts';
import { FakeImages, requireImage } from './fake-images.ts';
import { FakePods, type FakeSandbox, type RuntimeHappening } from './fake-pods.ts';
import {
  type FakeExecRequest,
  type FakeExecResult,
  type FakeRuntimeOptions,
  type ResolvedRuntimeOptions,
  resolveRuntimeOptions,
} from './fake-runtime-options.ts';
import {
  fitsCall,
  type RuntimeCallRecord,
  RuntimeCalls,
  type RuntimeFaultHandle,
  type RuntimeFaultRule,
} from './runtime-calls.ts';

/**
 * A container runtime in memory: sandboxes with addresses, containers that live as `lives` says, images of a registry, events,
 * all by an injected clock. It behaves as containerd does, and calls and events go wrong on demand. `close` ends its timers.
 *
 * @example
 * ```ts
 * import { FakeClock, FakeRuntime } from 'pod-status-manager/testing';
 *
 * const clock = new FakeClock();
 * const runtime = new FakeRuntime({ clock, lives: () => ({ runsMs: 5000, exitCode: 3 }) });
 * const image = await runtime.pullImage('busybox');
 * console.log((await runtime.imageStatus(image))?.repoTags); // [ 'docker.io/library/busybox:latest' ]
 * await runtime.close();
 * ```
 */
export class FakeRuntime implements ContainerRuntime {
  readonly #options: ResolvedRuntimeOptions;
  readonly #calls: RuntimeCalls;
  readonly #images = new FakeImages();
  readonly #pods: FakePods;
  readonly #streams = new EventStreams();
  readonly #eventRules = new FaultRules<Omit<RuntimeFaultRule, 'fault'>>();
  readonly #history: RuntimeHappening[] = [];
  readonly #conditions = new Map<string, RuntimeCondition>();
  #cancelComeUp: CancelTimer = () => {};
  #closed = false;

  /** Throws ERR_INVALID_OPTION, and ERR_INVALID_ARGUMENT for a `podCIDR` that is no range. */
  constructor(options: FakeRuntimeOptions = {}) {
    const resolved = resolveRuntimeOptions(options);
    this.#options = resolved;
    this.#calls = new RuntimeCalls(resolved.clock);
    const happened = (happening: RuntimeHappening, sandbox: FakeSandbox): void => this.#happened(happening, sandbox);
    this.#pods = new FakePods({ ...resolved, images: this.#images, happened });
    for (const image of resolved.images) this.#images.add(image, {});
    for (const type of ['RuntimeReady', 'NetworkReady']) this.setCondition({ type, status: true, reason: '', message: '' });
  }

  /** All that happened to sandboxes and containers so far, in order. */
  get history(): readonly RuntimeHappening[] {
    return this.#history;
  }

  /** Every call so far, in order. */
  get calls(): readonly RuntimeCallRecord[] {
    return this.#calls.log;
  }

  /** Forgets the calls so far. Calls under way go on. */
  clearCalls(): void {
    this.#calls.log = [];
  }

  /** Lets calls go wrong. Rules count in the order in which they were added. */
  fail(rule: RuntimeFaultRule): RuntimeFaultHandle {
    return this.#calls.rules.add(rule);
  }

  /** Lets events get lost: by default the next one. `about` is the id of a sandbox or a container. */
  loseEvents(rule: Omit<RuntimeFaultRule, 'fault' | 'call'> = {}): RuntimeFaultHandle {
    return this.#eventRules.add(rule);
  }

  /** Takes every rule back. */
  heal(): void {
    this.#calls.rules.clear();
    this.#eventRules.clear();
  }

  /** Ends the connection and every call under way; later calls fail for `downMs` milliseconds, default 0. Containers run on. */
  restart({ downMs = 0 }: { readonly downMs?: number } = {}): void {
    if (this.#closed) return;
    this.#goDown('connection error: desc = "transport: error while dialing: connection refused"');
    if (downMs <= 0) this.#calls.comeUp();
    else this.#cancelComeUp = this.#options.clock.setTimer(() => this.#calls.comeUp(), downMs);
  }

  /** Ends a running container at once, as the kernel does when memory is short. Nothing happens to any other. */
  killContainer(containerID: string, end?: ContainerEnd): void {
    this.#pods.find(containerID)?.kill(end);
  }

  /** Ends a sandbox and what runs in it, as if its process had died. */
  killSandbox(sandboxID: string): void {
    this.#pods.stop(sandboxID);
  }

  /** Sets what {@link health} says in one condition. */
  setCondition(condition: RuntimeCondition): void {
    this.#conditions.set(condition.type, condition);
  }

  version({ signal }: RuntimeCall = {}): Promise<RuntimeVersion> {
    const { runtimeName } = this.#options;
    return this.#calls.run('Version', '', signal, () => ({ runtimeName, runtimeVersion: '1.0.0', runtimeApiVersion: 'v1' }));
  }

  health({ signal }: RuntimeCall = {}): Promise<RuntimeHealth> {
    const ability = { recursiveReadOnlyMounts: true, userNamespaces: this.#options.userNamespaces };
    return this.#calls.run('Status', '', signal, () => ({
      conditions: [...this.#conditions.values()],
      handlers: this.#options.runtimeHandlers.map((name) => ({ name, ...ability })),
      features: { supplementalGroupsPolicy: true },
    }));
  }

  cgroupDriver({ signal }: RuntimeCall = {}): Promise<'cgroupfs' | 'systemd' | undefined> {
    return this.#calls.run('RuntimeConfig', '', signal, () => this.#options.cgroupDriver ?? undefined);
  }

  updatePodCIDR(podCIDR: string, { signal }: RuntimeCall = {}): Promise<void> {
    return this.#calls.run('UpdateRuntimeConfig', podCIDR, signal, () => this.#pods.setPodCIDR(podCIDR));
  }

  runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, { signal }: RuntimeCall = {}): Promise<string> {
    const { namespace, name } = config.metadata;
    return this.#calls.run('RunPodSandbox', `${namespace}/${name}`, signal, () => this.#pods.run(config, runtimeHandler));
  }

  stopPodSandbox(sandboxID: string, { signal }: RuntimeCall = {}): Promise<void> {
    return this.#calls.run('StopPodSandbox', sandboxID, signal, () => this.#pods.stop(sandboxID));
  }

  removePodSandbox(sandboxID: string, { signal }: RuntimeCall = {}): Promise<void> {
    return this.#calls.run('RemovePodSandbox', sandboxID, signal, () => this.#pods.remove(sandboxID));
  }

  podSandboxStatus(sandboxID: string, { signal }: RuntimeCall = {}): Promise<PodSandboxDetails> {
    const call = 'PodSandboxStatus';
    return this.#calls.run(call, sandboxID, signal, () => this.#pods.sandbox(sandboxID, call).details());
  }

  listPodSandboxes(filter?: SandboxFilter, { signal }: RuntimeCall = {}): Promise<readonly PodSandboxRecord[]> {
    return this.#calls.run('ListPodSandbox', '', signal, () => this.#pods.sandboxes(filter).map((sandbox) => sandbox.record()));
  }

  createContainer(
    sandboxID: string,
    config: ContainerConfig,
    _sandbox: PodSandboxConfig,
    { signal }: RuntimeCall = {},
  ): Promise<string> {
    return this.#calls.run('CreateContainer', config.metadata.name, signal, () => this.#pods.create(sandboxID, config));
  }

  startContainer(containerID: string, { signal }: RuntimeCall = {}): Promise<void> {
    return this.#calls.run('StartContainer', containerID, signal, async () => {
      const { startTakesMs = 0 } = this.#pods.container(containerID, 'StartContainer').options.life;
      await this.#calls.wait(startTakesMs);
      this.#pods.start(containerID);
    });
  }

  stopContainer(containerID: string, timeoutSeconds: number, { signal }: RuntimeCall = {}): Promise<void> {
    const stop = (): Promise<void> | undefined => this.#pods.find(containerID)?.stop(timeoutSeconds);
    return this.#calls.run<void>('StopContainer', containerID, signal, async () => stop());
  }

  removeContainer(containerID: string, { signal }: RuntimeCall = {}): Promise<void> {
    return this.#calls.run('RemoveContainer', containerID, signal, () => this.#pods.removeContainer(containerID));
  }

  containerStatus(containerID: string, { signal }: RuntimeCall = {}): Promise<ContainerDetails> {
    const call = 'ContainerStatus';
    return this.#calls.run(call, containerID, signal, () => this.#pods.container(containerID, call).details());
  }

  listContainers(filter?: ContainerFilter, { signal }: RuntimeCall = {}): Promise<readonly ContainerRecord[]> {
    return this.#calls.run('ListContainers', '', signal, () => this.#pods.containers(filter).map((each) => each.record()));
  }

  updateContainerResources(containerID: string, resources: LinuxContainerResources, { signal }: RuntimeCall = {}): Promise<void> {
    const call = 'UpdateContainerResources';
    return this.#calls.run(call, containerID, signal, () => this.#pods.container(containerID, call).update(resources));
  }

  reopenContainerLog(containerID: string, { signal }: RuntimeCall = {}): Promise<void> {
    const call = 'ReopenContainerLog';
    return this.#calls.run(call, containerID, signal, () => this.#pods.container(containerID, call).reopenLog());
  }

  listContainerStats(filter?: ContainerFilter, { signal }: RuntimeCall = {}): Promise<readonly ContainerStats[]> {
    return this.#calls.run('ListContainerStats', '', signal, () => this.#pods.stats(filter));
  }

  listPodSandboxStats(filter?: SandboxFilter, { signal }: RuntimeCall = {}): Promise<readonly PodSandboxStats[]> {
    return this.#calls.run('ListPodSandboxStats', '', signal, () => {
      const ready = this.#pods.sandboxes({ ready: true, ...filter });
      return ready.map((sandbox) => sandbox.stats(this.#options.clock.now()));
    });
  }

  execSync(
    containerID: string,
    command: readonly string[],
    timeoutSeconds: number,
    { signal }: RuntimeCall = {},
  ): Promise<ExecSyncResult> {
    return this.#calls.run('ExecSync', containerID, signal, () => {
      const container = this.#pods.runningContainer(containerID, 'ExecSync').record();
      return runCommand({ container, command }, timeoutSeconds, this.#options.exec, (ms) => this.#calls.wait(ms));
    });
  }

  /** The address leads nowhere: a fake serves no streams. */
  exec(containerID: string, _command: readonly string[], _stream: StreamRequest, { signal }: RuntimeCall = {}): Promise<string> {
    return this.#calls.run('Exec', containerID, signal, () => {
      const { id } = this.#pods.runningContainer(containerID, 'Exec').options;
      return `http://fake-runtime.invalid/exec/${id}`;
    });
  }

  /** The address leads nowhere: a fake serves no streams. */
  attach(containerID: string, _stream: StreamRequest, { signal }: RuntimeCall = {}): Promise<string> {
    return this.#calls.run('Attach', containerID, signal, () => {
      const { id } = this.#pods.runningContainer(containerID, 'Attach').options;
      return `http://fake-runtime.invalid/attach/${id}`;
    });
  }

  /** The address leads nowhere: a fake serves no streams. */
  portForward(sandboxID: string, _ports: readonly number[], { signal }: RuntimeCall = {}): Promise<string> {
    return this.#calls.run('PortForward', sandboxID, signal, () => {
      const { id } = this.#pods.readySandbox(sandboxID, 'PortForward');
      return `http://fake-runtime.invalid/portforward/${id}`;
    });
  }

  pullImage(image: string, { auth, signal }: PullImageOptions = {}): Promise<string> {
    return this.#calls.run('PullImage', image, signal, async () => {
      const found = requireImage(image, this.#options.registry(image, auth));
      await this.#calls.wait(found.pullMs ?? 0);
      if (found.error !== undefined) throw new RuntimeError('failed', 'PullImage', found.error);
      return this.#images.add(image, found);
    });
  }

  imageStatus(image: string, { signal }: RuntimeCall = {}): Promise<RuntimeImage | undefined> {
    return this.#calls.run('ImageStatus', image, signal, () => this.#images.find(image)?.image);
  }

  listImages({ signal }: RuntimeCall = {}): Promise<readonly RuntimeImage[]> {
    return this.#calls.run('ListImages', '', signal, () => this.#images.list());
  }

  removeImage(image: string, { signal }: RuntimeCall = {}): Promise<void> {
    return this.#calls.run('RemoveImage', image, signal, () => this.#images.remove(image));
  }

  imageFilesystems({ signal }: RuntimeCall = {}): Promise<readonly FilesystemUsage[]> {
    return this.#calls.run('ImageFsInfo', '', signal, () => [this.#images.usage(this.#options.clock.now())]);
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    const events = this.#streams.open(signal);
    if (this.#calls.isDown) this.#streams.fail(() => this.#calls.unavailable('GetContainerEvents'));
    return events;
  }

  /** Ends every timer; containers stay as they are. A second call does nothing. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelComeUp();
    this.#pods.forget();
    this.#goDown('the connection was closed');
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #happened(happening: RuntimeHappening, sandbox: FakeSandbox): void {
    this.#history.push(happening);
    const { type, id: containerID, at, podUID } = happening;
    const [lost] = this.#eventRules.take((rule) => fitsCall(rule, '', containerID));
    if (lost !== undefined) return;
    const containers = [...sandbox.containers.values()].map((container) => container.details());
    this.#streams.send({ type, containerID, at, podUID, sandbox: sandbox.details(), containers });
  }

  #goDown(because: string): void {
    this.#cancelComeUp();
    this.#calls.goDown(because);
    this.#streams.fail(() => this.#calls.unavailable('GetContainerEvents'));
  }
}

/** Runs a command in a running container as `exec` says. Rejects with kind `timeout` when it takes longer than the timeout; 0 is none. */
async function runCommand(
  request: FakeExecRequest,
  timeoutSeconds: number,
  exec: (request: FakeExecRequest) => FakeExecResult,
  wait: (ms: number) => Promise<void>,
): Promise<ExecSyncResult> {
  const { exitCode = 0, stdout = '', stderr = '', takesMs = 0 } = exec(request);
  const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : Number.POSITIVE_INFINITY;
  await wait(Math.min(takesMs, timeoutMs));
  if (takesMs > timeoutMs) {
    throw new RuntimeError('timeout', 'ExecSync', `timeout ${timeoutSeconds}s exceeded: context deadline exceeded`);
  }
  const output = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
  const bytes = output.stdout.length + output.stderr.length;
  if (bytes <= longestExecOutput) return { ...output, exitCode };
  throw new RuntimeError('failed', 'ExecSync', `the command wrote ${bytes} bytes, and ${longestExecOutput} are taken`);
}
