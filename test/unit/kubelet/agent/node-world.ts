import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { NodeAgent, type NodeAgentOptions } from '../../../../src/kubelet.ts';
import type { FakeRuntimeOptions } from '../../../../src/testing/runtime/fake-runtime-options.ts';
import { buildPod, FakeMounter, FakeRuntime } from '../../../../src/testing.ts';
import { Prng } from '../../../random/chaos/prng.ts';
import { fairApiWeather } from '../../../random/simulation/parts/api-weather.ts';
import { SimulatedObjects } from '../../../random/simulation/parts/simulated-objects.ts';
import { refusedConnection } from '../../../random/simulation/parts/simulated-stream.ts';
import { SimulatedTransport } from '../../../random/simulation/parts/simulated-transport.ts';
import { ProcessClock, SimulatedClock } from '../../../random/simulation/simulated-clock.ts';
import { epochMs } from '../../../random/simulation/simulated-server.ts';
import { networkOf } from '../../../support/network-of.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import { settleWithFiles } from '../../../support/settle-with-files.ts';
import { until } from '../../../support/until.ts';

/** One node in virtual time: a runtime, a server in memory, and the agents that a test makes, one after the other. */
export class NodeWorld {
  readonly time = new SimulatedClock(settleWithFiles);
  readonly runtime: FakeRuntime;
  readonly objects: SimulatedObjects;
  readonly warnings: string[] = [];
  /** The requests of agents, such as `GET /api/v1/nodes/node-1`. */
  readonly requests: string[] = [];
  /** Requests and watches of paths that match it find no server. */
  unreachable: RegExp | undefined;
  readonly weather = { ...fairApiWeather };
  readonly #folder: string;
  readonly #mounter = new FakeMounter();
  readonly #clocks: ProcessClock[] = [];

  private constructor(folder: string, runtime: FakeRuntimeOptions) {
    this.#folder = folder;
    const prng = new Prng(1);
    this.objects = new SimulatedObjects(this.time, prng.fork('objects'), this.weather);
    this.runtime = new FakeRuntime({ podCIDR: '10.244.0.0/16', clock: new ProcessClock(this.time, epochMs), ...runtime });
  }

  static async make(runtime: FakeRuntimeOptions = {}): Promise<NodeWorld> {
    return new NodeWorld(await mkdtemp(path.join(tmpdir(), 'node-world-')), runtime);
  }

  agent(options: Partial<NodeAgentOptions> = {}): NodeAgent {
    return new NodeAgent({ ...this.agentOptions(), ...options });
  }

  /** What an agent is made with, a clock of its own included. */
  agentOptions(): NodeAgentOptions {
    const { time: clock, objects, weather, runtime } = this;
    const wire = new SimulatedTransport({ clock, objects, weather, prng: new Prng(2), count: () => {} });
    // the disk of a runtime in memory has no size
    const note = (_: object, message: string): void => {
      if (message !== 'unused images could not be removed') this.warnings.push(message);
    };
    const transport = {
      request: (request: Parameters<typeof wire.request>[0]) => {
        this.requests.push(`${request.method} ${request.path}`);
        return this.unreachable?.test(request.path) ? Promise.reject(refusedConnection()) : wire.request(request);
      },
      stream: (request: Parameters<typeof wire.stream>[0]) => {
        return this.unreachable?.test(request.path) ? Promise.reject(refusedConnection()) : wire.stream(request);
      },
      close: () => Promise.resolve(),
    };
    const own = new ProcessClock(clock, epochMs);
    this.#clocks.push(own);
    return {
      // the parts need of a transport no more than these methods
      transport: transport as unknown as KubeTransport,
      nodeName: 'node-1',
      nodeIPs: ['192.0.2.1'],
      network: networkOf('192.0.2.1'),
      runtime,
      rootDirectory: path.join(this.#folder, 'kubelet'),
      podLogsDirectory: path.join(this.#folder, 'logs'),
      resolvConf: '',
      mounter: this.#mounter,
      cgroupsPerQOS: false,
      machine: quietMachine(),
      clock: own,
      random: () => 0.5,
      logger: { debug: () => {}, info: () => {}, warn: note, error: note },
    };
  }

  /** Timers that agents have left. */
  get timersLeft(): number {
    return this.#clocks.reduce((sum, { pendingTimers }) => sum + pendingTimers, 0);
  }

  get logsFolder(): string {
    return path.join(this.#folder, 'logs');
  }

  pod(name: string): WirePod | undefined {
    return (this.objects.target('/api/v1/pods').store.list() as WirePod[]).find(({ metadata }) => metadata?.name === name);
  }

  create(name: string, spec: WirePod['spec'] | object = {}): void {
    const containers = [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent' }];
    const whole = { nodeName: 'node-1', terminationGracePeriodSeconds: 5, containers, ...spec };
    this.objects.target('/api/v1/pods').store.create(buildPod({ metadata: { name, uid: name }, spec: whole } as object));
  }

  /** As a user changes the image of the pod's first container. */
  changeImage(name: string, image: string): void {
    const pod = this.pod(name);
    const [first, ...others] = pod?.spec?.containers ?? [];
    const containers = [{ ...first, image }, ...others];
    this.objects.target('/api/v1/pods').store.update({ ...pod, spec: { ...pod?.spec, containers } } as object);
  }

  /** As a user deletes a pod: its grace period begins, or it is gone at once with 0. */
  delete(name: string, gracePeriodSeconds: number): void {
    this.objects.target('/api/v1/pods').store.delete({ namespace: 'default', name }, { gracePeriodSeconds });
  }

  /** Time goes on for so long. */
  async pass(ms: number): Promise<void> {
    await this.time.runUntil(this.time.elapsedMs + ms, () => false);
  }

  /** Time goes on until the promise has settled. */
  async through<T>(promise: Promise<T>, mostMs = 600_000): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    await this.time.runUntil(this.time.elapsedMs + mostMs, () => isOver);
    if (!isOver) throw new Error('it has not ended');
    return promise;
  }

  /** The same for a promise that waits for real sockets too, which know nothing of virtual time. */
  async throughSockets<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    await until(() => this.pass(10).then(() => isOver));
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
