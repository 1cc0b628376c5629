import { longestTimerMs } from '../../base/options.ts';
import type { GrpcConnection } from '../grpc/grpc-connection.ts';
import {
  type ContainerFilter,
  type ContainerRuntime,
  type ExecSyncResult,
  isRuntimeError,
  longestExecOutput,
  type PullImageOptions,
  type RuntimeCall,
  type RuntimeEvent,
  type RuntimeHealth,
  type RuntimeVersion,
  type SandboxFilter,
  type StreamRequest,
} from '../runtime/container-runtime.ts';
import type {
  ContainerConfig,
  ContainerDetails,
  ContainerRecord,
  ContainerStats,
  LinuxContainerResources,
  PodSandboxStats,
} from '../runtime/runtime-containers.ts';
import type { FilesystemUsage, RuntimeImage } from '../runtime/runtime-images.ts';
import type { PodSandboxConfig, PodSandboxDetails, PodSandboxRecord } from '../runtime/runtime-sandboxes.ts';
import {
  containerDetails,
  containerRecord,
  containerStatsOf,
  eventOf,
  healthOf,
  sandboxDetails,
  sandboxRecord,
  sandboxStatsOf,
} from './cri-answers.ts';
import { criConnection } from './cri-connection.ts';
import {
  answered,
  CriCalls,
  containerFilesystems,
  imageFilesystems,
  imageStatus,
  listImages,
  pullImage,
  removeImage,
} from './cri-images.ts';
import { type CriRuntimeOptions, checkedCriRuntimeOptions } from './cri-options.ts';
import {
  containerFilter,
  containerRequest,
  int64,
  podSelector,
  resourcesRequest,
  sandboxFilter,
  sandboxRequest,
} from './cri-requests.ts';
import { CgroupDriver, type ContainerEventResponse, RuntimeService } from './proto/api_pb.ts';

const { method } = RuntimeService;

/** The output, and what the message has around it. */
const longestExecMessage = longestExecOutput + 64;

/**
 * A container runtime that speaks CRI v1, such as containerd or CRI-O, over gRPC on a unix socket. Nothing is connected before the
 * first call; the connection is made again after the runtime has restarted, and until then calls reject with kind `unavailable`.
 * No call waits longer than its limit.
 *
 * @example
 * ```ts
 * import { CriRuntime } from 'pod-status-manager/cri';
 * import { isRuntimeError } from 'pod-status-manager/kubelet';
 *
 * const runtime = new CriRuntime({ socketPath: '/run/no-such-runtime.sock', logger: null });
 * const answer = await runtime.version().catch((error: unknown) => error);
 * console.log(isRuntimeError(answer, 'unavailable')); // true
 * await runtime.close();
 * ```
 */
export class CriRuntime implements ContainerRuntime {
  readonly #calls: CriCalls;
  readonly #imageCalls: CriCalls;
  readonly #execCalls: CriCalls;
  readonly #connection: GrpcConnection;
  readonly #imageConnection: GrpcConnection;
  readonly #execConnection: GrpcConnection;
  readonly #callTimeoutMs: number;
  readonly #sandboxIDs = new SandboxIDs();

  /** Throws ERR_INVALID_OPTION. */
  constructor(options: CriRuntimeOptions) {
    const { socketPath, imageSocketPath, callTimeoutMs, clock, logger } = checkedCriRuntimeOptions(options);
    this.#callTimeoutMs = callTimeoutMs;
    this.#connection = criConnection(socketPath, clock);
    this.#imageConnection = imageSocketPath === socketPath ? this.#connection : criConnection(imageSocketPath, clock);
    this.#execConnection = criConnection(socketPath, clock, longestExecMessage);
    this.#calls = new CriCalls(this.#connection, callTimeoutMs, logger);
    this.#execCalls = new CriCalls(this.#execConnection, callTimeoutMs, logger);
    this.#imageCalls = new CriCalls(this.#imageConnection, callTimeoutMs, logger);
  }

  async version(call?: RuntimeCall): Promise<RuntimeVersion> {
    const answer = await this.#calls.unary(method.version, () => ({}), call);
    const { runtimeName, runtimeVersion, runtimeApiVersion } = answer;
    return { runtimeName, runtimeVersion, runtimeApiVersion };
  }

  async health(call?: RuntimeCall): Promise<RuntimeHealth> {
    return healthOf(await this.#calls.unary(method.status, () => ({}), call));
  }

  async cgroupDriver(call?: RuntimeCall): Promise<'cgroupfs' | 'systemd' | undefined> {
    try {
      const { linux } = await this.#calls.unary(method.runtimeConfig, () => ({}), call);
      if (linux === undefined) return undefined;
      return linux.cgroupDriver === CgroupDriver.CGROUPFS ? 'cgroupfs' : 'systemd';
    } catch (error) {
      if (isRuntimeError(error, 'unimplemented')) return undefined;
      throw error;
    }
  }

  async updatePodCIDR(podCIDR: string, call?: RuntimeCall): Promise<void> {
    const makeRequest = () => ({ runtimeConfig: { networkConfig: { podCidr: podCIDR } } });
    await this.#calls.unary(method.updateRuntimeConfig, makeRequest, call);
  }

  async runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, call?: RuntimeCall): Promise<string> {
    const makeRequest = () => ({ config: sandboxRequest(config), runtimeHandler });
    const limits = { ...call, timeoutMs: Math.min(2 * this.#callTimeoutMs, longestTimerMs) };
    const { podSandboxId } = await this.#calls.unary(method.runPodSandbox, makeRequest, limits);
    return answered(podSandboxId, method.runPodSandbox.name, 'id of a sandbox');
  }

  async stopPodSandbox(sandboxID: string, call?: RuntimeCall): Promise<void> {
    await this.#calls.end(method.stopPodSandbox, () => ({ podSandboxId: sandboxID }), call);
  }

  async removePodSandbox(sandboxID: string, call?: RuntimeCall): Promise<void> {
    await this.#calls.end(method.removePodSandbox, () => ({ podSandboxId: sandboxID }), call);
  }

  async podSandboxStatus(sandboxID: string, call?: RuntimeCall): Promise<PodSandboxDetails> {
    const { status } = await this.#calls.unary(method.podSandboxStatus, () => ({ podSandboxId: sandboxID }), call);
    return sandboxDetails(answered(status, method.podSandboxStatus.name, 'status'));
  }

  async listPodSandboxes(filter: SandboxFilter = {}, call?: RuntimeCall): Promise<readonly PodSandboxRecord[]> {
    const { items } = await this.#calls.unary(method.listPodSandbox, () => ({ filter: sandboxFilter(filter) }), call);
    return items.map(sandboxRecord);
  }

  async createContainer(
    sandboxID: string,
    config: ContainerConfig,
    sandbox: PodSandboxConfig,
    call?: RuntimeCall,
  ): Promise<string> {
    const makeRequest = () => ({
      podSandboxId: sandboxID,
      config: containerRequest(config),
      sandboxConfig: sandboxRequest(sandbox),
    });
    const { containerId } = await this.#calls.unary(method.createContainer, makeRequest, call);
    this.#sandboxIDs.add(answered(containerId, method.createContainer.name, 'id of a container'), sandboxID);
    return containerId;
  }

  async startContainer(containerID: string, call?: RuntimeCall): Promise<void> {
    await this.#calls.unary(method.startContainer, () => ({ containerId: containerID }), call);
  }

  async stopContainer(containerID: string, timeoutSeconds: number, call?: RuntimeCall): Promise<void> {
    const makeRequest = () => ({ containerId: containerID, timeout: int64(timeoutSeconds) });
    await this.#calls.end(method.stopContainer, makeRequest, this.#limitsWith(timeoutSeconds, call));
  }

  async removeContainer(containerID: string, call?: RuntimeCall): Promise<void> {
    await this.#calls.end(method.removeContainer, () => ({ containerId: containerID }), call);
    this.#sandboxIDs.delete(containerID);
  }

  async containerStatus(containerID: string, call?: RuntimeCall): Promise<ContainerDetails> {
    const { status } = await this.#calls.unary(method.containerStatus, () => ({ containerId: containerID }), call);
    const found = answered(status, method.containerStatus.name, 'status');
    const known = this.#sandboxIDs.of(found.id);
    if (known !== undefined) return containerDetails(found, known);
    const [record] = await this.listContainers({ containerID: found.id }, call);
    return containerDetails(found, record?.sandboxID ?? '');
  }

  async listContainers(filter: ContainerFilter = {}, call?: RuntimeCall): Promise<readonly ContainerRecord[]> {
    const makeRequest = () => ({ filter: containerFilter(filter) });
    const { containers } = await this.#calls.unary(method.listContainers, makeRequest, call);
    const records = containers.map(containerRecord);
    if (Object.keys(filter).length === 0) this.#sandboxIDs.replace(records);
    return records;
  }

  async updateContainerResources(containerID: string, resources: LinuxContainerResources, call?: RuntimeCall): Promise<void> {
    const makeRequest = () => ({ containerId: containerID, linux: resourcesRequest(resources) });
    await this.#calls.unary(method.updateContainerResources, makeRequest, call);
  }

  async reopenContainerLog(containerID: string, call?: RuntimeCall): Promise<void> {
    await this.#calls.unary(method.reopenContainerLog, () => ({ containerId: containerID }), call);
  }

  async listContainerStats(filter: ContainerFilter = {}, call?: RuntimeCall): Promise<readonly ContainerStats[]> {
    const makeRequest = () => ({ filter: containerFilter(filter) });
    const { stats } = await this.#calls.unary(method.listContainerStats, makeRequest, call);
    return stats.map(containerStatsOf);
  }

  async listPodSandboxStats(filter: SandboxFilter = {}, call?: RuntimeCall): Promise<readonly PodSandboxStats[]> {
    const makeRequest = () => ({ filter: { labelSelector: podSelector(filter.podUID) } });
    const { stats } = await this.#calls.unary(method.listPodSandboxStats, makeRequest, call);
    const found = stats.map(sandboxStatsOf);
    if (filter.ready === undefined) return found;
    const wanted = new Set((await this.listPodSandboxes(filter, call)).map(({ id }) => id));
    return found.filter(({ sandboxID }) => wanted.has(sandboxID));
  }

  async execSync(
    containerID: string,
    command: readonly string[],
    timeoutSeconds: number,
    call?: RuntimeCall,
  ): Promise<ExecSyncResult> {
    const makeRequest = () => ({ containerId: containerID, cmd: [...command], timeout: int64(timeoutSeconds) });
    const limits = timeoutSeconds === 0 ? { ...call, timeoutMs: null } : this.#limitsWith(timeoutSeconds, call);
    const { stdout, stderr, exitCode } = await this.#execCalls.unary(method.execSync, makeRequest, limits);
    return { stdout, stderr, exitCode };
  }

  async exec(containerID: string, command: readonly string[], stream: StreamRequest, call?: RuntimeCall): Promise<string> {
    const makeRequest = () => ({ ...streamRequest(stream), containerId: containerID, cmd: [...command] });
    const { url } = await this.#calls.unary(method.exec, makeRequest, call);
    return answered(url, method.exec.name, 'URL');
  }

  async attach(containerID: string, stream: StreamRequest, call?: RuntimeCall): Promise<string> {
    const makeRequest = () => ({ ...streamRequest(stream), containerId: containerID });
    const { url } = await this.#calls.unary(method.attach, makeRequest, call);
    return answered(url, method.attach.name, 'URL');
  }

  async portForward(sandboxID: string, ports: readonly number[], call?: RuntimeCall): Promise<string> {
    const makeRequest = () => ({ podSandboxId: sandboxID, port: [...ports] });
    const { url } = await this.#calls.unary(method.portForward, makeRequest, call);
    return answered(url, method.portForward.name, 'URL');
  }

  async pullImage(image: string, options: PullImageOptions = {}): Promise<string> {
    return pullImage(this.#imageCalls, image, options);
  }

  async imageStatus(image: string, call?: RuntimeCall): Promise<RuntimeImage | undefined> {
    return imageStatus(this.#imageCalls, image, call);
  }

  async listImages(call?: RuntimeCall): Promise<readonly RuntimeImage[]> {
    return listImages(this.#imageCalls, call);
  }

  async removeImage(image: string, call?: RuntimeCall): Promise<void> {
    await removeImage(this.#imageCalls, image, call);
  }

  async imageFilesystems(call?: RuntimeCall): Promise<readonly FilesystemUsage[]> {
    return imageFilesystems(this.#imageCalls, call);
  }

  async containerFilesystems(call?: RuntimeCall): Promise<readonly FilesystemUsage[]> {
    return containerFilesystems(this.#imageCalls, call);
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return eventsOf(this.#connection.stream(method.getContainerEvents, () => ({}), signal));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#execConnection.close();
    if (this.#imageConnection !== this.#connection) this.#imageConnection.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The limits of a call that may itself wait so many seconds. */
  #limitsWith(seconds: number, call: RuntimeCall | undefined) {
    return { ...call, timeoutMs: Math.min(this.#callTimeoutMs + seconds * 1000, longestTimerMs) };
  }
}

function streamRequest({ tty, stdin, stdout, stderr }: StreamRequest): StreamRequest {
  return { tty, stdin, stdout, stderr };
}

async function* eventsOf(answers: AsyncIterable<ContainerEventResponse>): AsyncGenerator<RuntimeEvent, void> {
  for await (const answer of answers) {
    const event = eventOf(answer);
    if (event !== undefined) yield event;
  }
}

/** In which sandbox a container is: the status of a container in CRI does not say it, a list does. */
class SandboxIDs {
  #ids = new Map<string, string>();

  of(containerID: string): string | undefined {
    return this.#ids.get(containerID);
  }

  add(containerID: string, sandboxID: string): void {
    this.#ids.set(containerID, sandboxID);
  }

  delete(containerID: string): void {
    this.#ids.delete(containerID);
  }

  /** A list of all containers: who is not on it is gone. */
  replace(containers: readonly ContainerRecord[]): void {
    this.#ids = new Map(containers.map(({ id, sandboxID }) => [id, sandboxID]));
  }
}
