import { readFile } from 'node:fs/promises';
import { KubeConfig, loadAllYaml } from '@kubernetes/client-node';
import type { JsonObject } from '../../../src/api/json/types.ts';
import type { SteadyClock } from '../../../src/base/clock.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { KubeTransport, type KubeTransportOptions } from '../../../src/client/transport/kube-transport.ts';
import type { ExtenderOptions } from '../../../src/scheduler/extenders/extender-options.ts';
import { type ClusterScheduler, type ClusterSchedulerOptions, inTreePlugins, type Plugin } from '../../../src/scheduler.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import { type Answers, type ExtenderServer, extenderServer } from '../../unit/scheduler/extenders/extender-world.ts';
import { ShownPage } from '../stuck/shown-page.ts';
import type { LogLine } from '../stuck/stuck-node.ts';
import type { StuckRow } from '../stuck/stuck-row.ts';
import { SchedulingWorld } from './scheduling-world.ts';

/** A way in which a scheduler or one of its pods is stuck, and what people are told of it. Of a pod it is the one named `web`. */
export interface StuckSchedulerRow extends StuckRow {
  readonly about: 'pod' | 'scheduler';
  /** False: it was so from the beginning, so that no time is told. */
  readonly hasBegun?: false;
  /** `fields`: what else is in the line. */
  readonly log?: { readonly message: string; readonly fields?: JsonObject };
  /** On which servers. Default: in memory alone. */
  readonly servers?: 'both';
  /** Breaks it: afterwards the problem comes. */
  readonly arrange: (world: StuckSchedulerWorld) => Promise<void>;
  /** Mends it: afterwards nothing is wrong any more. */
  readonly mend?: (world: StuckSchedulerWorld) => Promise<unknown>;
  /** True: on a real server it would take a right that the test cannot give later. */
  readonly mendsInMemoryAlone?: true;
}

/** A line and an event of a pod that could not be placed. */
export const notPlaced = { message: 'a pod could not be placed' };
export const failed = { reason: 'FailedScheduling' };
/** A class that every cluster has, and its priority. */
export const critical = { priorityClassName: 'system-node-critical', priority: 2_000_001_000 };

/** A profile with one plugin more. */
export function withPlugin({ places }: StuckSchedulerWorld, plugin: Plugin): object {
  return {
    registry: { ...inTreePlugins(), [plugin.name]: () => plugin },
    profiles: [{ schedulerName: places.schedulerName, plugins: { multiPoint: { enabled: [{ name: plugin.name }] } } }],
  };
}

/** The row's own work mends it, and the pod is placed. */
export async function placedOnceMended(world: StuckSchedulerWorld): Promise<void> {
  world.mend();
  await world.places.bound('web');
}

export interface LeveledLine extends LogLine {
  readonly level: string;
}

export interface ToldEvent {
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly name?: string };
}

/** The machine's clock, which a test may let jump ahead. */
class JumpingClock implements SteadyClock {
  #aheadMs = 0;

  skip(ms: number): void {
    this.#aheadMs += ms;
  }

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  elapsed(): number {
    return systemClock.elapsed() + this.#aheadMs;
  }

  setTimer(...args: Parameters<SteadyClock['setTimer']>): ReturnType<SteadyClock['setTimer']> {
    return systemClock.setTimer(...args);
  }
}

/** Rights that a scheduler may lack: `VERB RESOURCE`. */
export type LackingRight =
  | 'list pods'
  | 'list nodes'
  | 'create events'
  | 'create pods/binding'
  | 'patch pods/status'
  | 'delete pods'
  | 'get leases';

/** A scheduler of a cluster at which something goes wrong, with the nodes and pods of one test. */
export class StuckSchedulerWorld implements AsyncDisposable {
  readonly server: TestServer;
  readonly places: SchedulingWorld;
  readonly clock = new JumpingClock();
  readonly logs: LeveledLine[] = [];
  /** What a row writes in capitals where a run has a name of its own: `NAMESPACE`, `EXTENDER`. */
  readonly names: Record<string, string>;
  readonly #stack: AsyncDisposableStack;
  /** Requests that are refused. */
  readonly #refusals: { readonly fits: (method: string, path: string) => boolean; readonly error: ApiError }[] = [];
  #scheduler: ClusterScheduler | undefined;
  #mend = (): void => {};

  private constructor(server: TestServer, places: SchedulingWorld, stack: AsyncDisposableStack) {
    this.server = server;
    this.places = places;
    this.names = { NAMESPACE: places.namespace };
    this.#stack = stack;
  }

  static async start(): Promise<StuckSchedulerWorld> {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await startTestServer());
    const places = stack.use(new SchedulingWorld(server, await server.admin.createNamespace('stuck')));
    return new StuckSchedulerWorld(server, places, stack);
  }

  get scheduler(): ClusterScheduler {
    if (this.#scheduler === undefined) throw new Error('no scheduler was made');
    return this.#scheduler;
  }

  /** An extender that is asked what there are answers for. `EXTENDER` of the row stands for its address. */
  async extender(
    answers: Answers,
    options: Partial<ExtenderOptions> = {},
  ): Promise<{ readonly server: ExtenderServer; readonly options: ExtenderOptions }> {
    const server = this.#stack.use(await extenderServer(answers));
    this.names.EXTENDER = server.url.slice(0, -1);
    const verbs = Object.fromEntries(Object.keys(answers).map((verb) => [`${verb}Verb`, verb]));
    return { server, options: { urlPrefix: server.url, nodeCacheCapable: true, ...verbs, ...options } };
  }

  /** What `mend` is to do. */
  mends(work: () => void): void {
    this.#mend = work;
  }

  mend(): void {
    this.#mend();
  }

  /** The row as it is in this run. */
  named<Row extends StuckRow>(row: Row): Row {
    const inRun = (text: string): string =>
      Object.entries(this.names).reduce((named, [name, value]) => named.replaceAll(name, value), text);
    return { ...row, words: inRun(row.words), help: row.help && inRun(row.help) };
  }

  /** The uid of the pod `web`. */
  async uidOf(name = 'web'): Promise<string> {
    const { body } = await this.server.admin.getPod(this.places.namespace, name);
    return (body as { metadata: { uid: string } }).metadata.uid;
  }

  async events(): Promise<readonly ToldEvent[]> {
    const { body } = await this.server.admin.send('GET', `/apis/events.k8s.io/v1/namespaces/${this.places.namespace}/events`);
    return (body as { items: ToldEvent[] }).items;
  }

  /** Makes the scheduler, which logs into `logs`. */
  make(options: Partial<ClusterSchedulerOptions> = {}, ofTransport: KubeTransportOptions = {}): ClusterScheduler {
    const note =
      (level: string) =>
      (fields: object, message: string): void =>
        void this.logs.push({ level, message, fields: { ...fields } });
    const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
    const { clock } = this;
    const given = options.transport ?? this.transport(this.server.kubeConfig(), ofTransport);
    this.#scheduler = this.#stack.use(this.places.scheduler({ clock, logger, transport: given, ...options }));
    return this.#scheduler;
  }

  /** The debug page of the scheduler. */
  page(): Promise<ShownPage> {
    return ShownPage.serve({ scheduler: this.scheduler, clock: this.clock });
  }

  async start(options: Partial<ClusterSchedulerOptions> = {}): Promise<void> {
    await this.make(options).start();
  }

  /** A transport that refuses what the test wants to be refused. */
  transport(kubeConfig: KubeConfig, options: KubeTransportOptions = {}): KubeTransport {
    const transport = this.#stack.use(new KubeTransport(kubeConfig, { logger: null, ...options }));
    const [request, stream] = [transport.request.bind(transport), transport.stream.bind(transport)];
    const refusal = (method: string, path: string) => this.#refusals.find(({ fits }) => fits(method, path))?.error;
    transport.request = async (given) => {
      const error = refusal(given.method, given.path);
      if (error !== undefined) throw error;
      return request(given);
    };
    transport.stream = async (given) => {
      const error = refusal('GET', given.path);
      if (error !== undefined) throw error;
      return stream(given);
    };
    return transport;
  }

  /** A relay between the scheduler and the server, which the test may cut or hold. */
  async relay(): Promise<TcpRelay> {
    return this.#stack.use(await TcpRelay.start(this.server.kubeConfig()));
  }

  /** From now on such requests are refused, until `allow`. */
  refuse(method: string, path: RegExp, error: ConstructorParameters<typeof ApiError>[0]): void {
    this.#refusals.push({ fits: (one, asked) => one === method && path.test(asked), error: new ApiError(error) });
  }

  allow(): void {
    this.#refusals.length = 0;
  }

  /**
   * Makes the scheduler without a right. On a real server it is another user that lacks the right; in memory the answer is that of a
   * real one.
   */
  async without(right: LackingRight, options: Partial<ClusterSchedulerOptions> = {}): Promise<void> {
    if (this.server.kind === 'real') {
      const transport = this.transport(await this.#configWithout(right));
      this.make({ ...options, transport });
      return;
    }
    const [verb = '', resource = ''] = right.split(' ');
    const method = { list: 'GET', create: 'POST', patch: 'PATCH', delete: 'DELETE', get: 'GET' }[verb] ?? '';
    const [kind, subresource = ''] = resource.split('/');
    const path = new RegExp(`/${kind}${subresource === '' ? '' : `/[^/]+/${subresource}`}${verb === 'list' ? '$' : '(/|$|\\?)'}`);
    const group = { leases: 'coordination.k8s.io', events: 'events.k8s.io' }[kind ?? ''] ?? '';
    const message = `${kind}${group && `.${group}`} is forbidden: User "scheduler" cannot ${verb} resource "${resource}" in API group "${group}"`;
    this.refuse(method, path, { status: 403, reason: 'Forbidden', message });
    this.make(options);
  }

  /** A kubeconfig of a service account that has all of deploy/scheduler-rbac.yaml but one right. */
  async #configWithout(right: LackingRight): Promise<KubeConfig> {
    const { namespace, schedulerName: name } = this.places;
    const text = await readFile(new URL('../../../deploy/scheduler-rbac.yaml', import.meta.url), 'utf8');
    const [role] = loadAllYaml(text) as { rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] }[];
    const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] };
    const rules = [...(role?.rules ?? []), leases].flatMap((rule) =>
      rule.resources.map((resource) => ({
        ...rule,
        resources: [resource],
        // a streamed list is a watch
        verbs: rule.verbs.filter((verb) => `${verb === 'watch' ? 'list' : verb} ${resource}` !== right),
      })),
    );
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.#post(accounts, { metadata: { name } });
    await this.#post(`${rbac}/clusterroles`, { metadata: { name }, rules: rules.filter(({ verbs }) => verbs.length > 0) });
    await this.#post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
    const { status } = (await this.#post(`${accounts}/${name}/token`, { spec: { expirationSeconds: 3600 } })) as {
      status: { token: string };
    };
    const cluster = this.server.kubeConfig().getCurrentCluster();
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [cluster],
      users: [{ name, token: status.token }],
      contexts: [{ name, cluster: cluster?.name, user: name }],
      currentContext: name,
    });
    return config;
  }

  async #post(path: string, body: object): Promise<unknown> {
    const answer = await this.server.admin.send('POST', path, { body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
