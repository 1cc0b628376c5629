import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Pod, WirePod } from '../../../src/api/json/types.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import type { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import type { Mounter } from '../../../src/kubelet/volumes/mounter.ts';
import { type NodeAgent, type NodeAgentOptions, type NodePlugins, PluginCallError } from '../../../src/kubelet.ts';
import type { FakeRuntimeOptions } from '../../../src/testing/runtime/fake-runtime-options.ts';
import { FakeMounter } from '../../../src/testing.ts';
import { Prng } from '../../random/chaos/prng.ts';
import { noDevicePlugins } from '../../support/plugins/no-device-plugins.ts';
import { NodeWorld } from '../../unit/kubelet/agent/node-world.ts';
import { ShownPage } from './shown-page.ts';
import type { LogLine } from './stuck-node.ts';
import type { StuckRow } from './stuck-row.ts';

/** A way in which a pod or a node of a `NodeAgent` is stuck, broken on a runtime in memory, in virtual time. */
export interface AgentRow extends Omit<StuckRow, 'retried'> {
  /** False: nothing is tried again. `untimed`: nobody says when. */
  readonly retried?: false | 'untimed';
  /** The pod, where it is not the one named `web` of the apiserver. */
  readonly pod?: { readonly podUID: string; readonly podName: string };
  /** How the runtime behaves. */
  readonly runtime?: FakeRuntimeOptions;
  /** Starts an agent, and breaks it. */
  readonly arrange: (world: StuckAgent) => Promise<void>;
  /** Mends it: soon after that nothing is wrong any more. */
  readonly mend?: (world: StuckAgent) => void | Promise<void>;
}

export interface ToldEvent {
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly reason: string;
  readonly message: string;
}

/** Speaks with plugins that are not there. */
export const silentPlugins: NodePlugins = {
  registration: (path) => ({
    getInfo: () =>
      Promise.reject(new PluginCallError('Unavailable', 'GetInfo', `no connection established to ${basename(path)}`)),
    notify: () => Promise.resolve(),
    close: () => {},
  }),
  csiNode: () => {
    throw new Error('there is no driver');
  },
  draDriver: () => {
    throw new Error('there is no driver');
  },
  ...noDevicePlugins,
};

type BreakableMounter = Mounter & { failure?: Error | undefined; unmountFailure?: Error | undefined };

/** A node agent in virtual time on which something goes wrong. */
export class StuckAgent {
  readonly node: NodeWorld;
  readonly logs: LogLine[] = [];
  /** Lines that tell of no failure. */
  readonly infos: LogLine[] = [];
  readonly mounter: BreakableMounter = new FakeMounter();
  readonly #prng = new Prng(3);
  readonly #folders: string[] = [];
  #agent: NodeAgent | undefined;
  #clock: Clock | undefined;
  /** Requests that are refused: `METHOD path`, and with what. */
  readonly #refusals: { readonly fits: RegExp; readonly error: ApiError }[] = [];

  private constructor(node: NodeWorld) {
    this.node = node;
    const mountTmpfs = this.mounter.mountTmpfs.bind(this.mounter);
    const unmount = this.mounter.unmount.bind(this.mounter);
    this.mounter.unmount = async (...args) => {
      if (this.mounter.unmountFailure !== undefined) throw this.mounter.unmountFailure;
      return unmount(...args);
    };
    this.mounter.mountTmpfs = async (...args) => {
      if (this.mounter.failure !== undefined) throw this.mounter.failure;
      return mountTmpfs(...args);
    };
  }

  static async make(runtime: FakeRuntimeOptions = {}): Promise<StuckAgent> {
    return new StuckAgent(await NodeWorld.make(runtime));
  }

  get agent(): NodeAgent {
    if (this.#agent === undefined) throw new Error('no agent runs');
    return this.#agent;
  }

  get events(): readonly ToldEvent[] {
    return this.node.objects.target('/api/v1/events').store.list() as unknown as ToldEvent[];
  }

  /** Requests whose `METHOD path` fits are refused, until `allow`. */
  refuse(fits: RegExp, status: number, reason: string, message: string): void {
    this.#refusals.push({ fits, error: new ApiError({ status, reason, message }) });
  }

  allow(): void {
    this.#refusals.length = 0;
  }

  /** Makes the agent, and begins its start. */
  begin(options: Partial<NodeAgentOptions> = {}): Promise<void> {
    const given = this.node.agentOptions();
    const { transport } = given;
    this.#clock = given.clock;
    const refusing = {
      request: (request: { readonly method: string; readonly path: string }) => {
        const refusal = this.#refusals.find(({ fits }) => fits.test(`${request.method} ${request.path}`));
        if (refusal !== undefined) return Promise.reject(refusal.error);
        return transport?.request(request as Parameters<KubeTransport['request']>[0]);
      },
      stream: (request: Parameters<KubeTransport['stream']>[0]) => transport?.stream(request),
      close: () => Promise.resolve(),
    };
    const note = (fields: object, message: string): void => void this.logs.push({ message, fields: { ...fields } });
    const noteInfo = (fields: object, message: string): void => void this.infos.push({ message, fields: { ...fields } });
    this.#agent = this.node.agent({
      ...given,
      transport: refusing as unknown as KubeTransport,
      mounter: this.mounter,
      random: () => this.#prng.next(),
      imageGCHighThresholdPercent: 100,
      evictionHard: {},
      logger: { debug: () => {}, info: noteInfo, warn: note, error: note },
      ...options,
    });
    return this.#agent.start();
  }

  async start(options: Partial<NodeAgentOptions> = {}): Promise<void> {
    await this.node.through(this.begin(options));
    await this.pass(3000);
  }

  /** Starts an agent, and a pod on it, and lets some time pass. */
  async run(
    spec: object = {},
    { ms = 8000, ...options }: Partial<NodeAgentOptions> & { readonly ms?: number } = {},
  ): Promise<void> {
    await this.start(options);
    this.create(spec);
    await this.pass(ms);
  }

  create(spec: object = {}, name = 'web'): void {
    this.node.create(name, spec);
  }

  pod(name = 'web'): WirePod | undefined {
    return this.node.pod(name);
  }

  /** The debug page of the agent. */
  page(): Promise<ShownPage> {
    return ShownPage.serve({ manager: this.agent.statusManager, node: this.agent, clock: this.#clock ?? systemClock });
  }

  pass(ms: number): Promise<void> {
    return this.node.pass(ms);
  }

  /** Puts an object there that a pod may name. */
  put(resource: 'configmaps' | 'secrets', name: string, data: Readonly<Record<string, string>>): void {
    const { store } = this.node.objects.target(`/api/v1/${resource}`);
    const object = { metadata: { name, namespace: 'default' }, data };
    if (store.list().some(({ metadata }) => metadata?.name === name))
      store.update({ ...(store.get({ namespace: 'default', name }) as object), ...object } as object);
    else store.create(object);
  }

  /** A folder that is removed at the end. */
  async folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'stuck-agent-'));
    this.#folders.push(made);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#agent !== undefined) await this.node.through(this.#agent.stop({ timeoutMs: 5000 }));
    await this.node[Symbol.asyncDispose]();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }
}

/** A spec with one container, and these fields of it. */
export function app(fields: object, pod: object = {}): Partial<Pod['spec']> & object {
  return { ...pod, containers: [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent', ...fields }] };
}

/** A spec with one container that mounts one volume. */
export function withVolume(volume: object, pod: object = {}): object {
  return app({ volumeMounts: [{ name: 'data', mountPath: '/data' }] }, { ...pod, volumes: [{ name: 'data', ...volume }] });
}
