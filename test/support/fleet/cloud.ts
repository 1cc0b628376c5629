import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Random } from '../../../examples/virtual-node/random.ts';

/** A container in the cloud. Times are RFC 3339, in whole seconds. */
export interface CloudContainer {
  readonly name: string;
  state: 'running' | 'exited';
  restartCount: number;
  startedAt: string;
  finishedAt?: string;
  exitCode?: number;
  ready: boolean;
}

/** A pod in the cloud. */
export interface CloudPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  /** True: its containers are never started again. */
  readonly runsOnce: boolean;
  readonly containers: CloudContainer[];
  /** Grows with each change: of two versions of a pod the greater one is the newer one. */
  version: number;
}

/** What a node's provider hands over when it creates a pod. */
export type WantedPod = Pick<CloudPod, 'uid' | 'namespace' | 'name' | 'nodeName' | 'runsOnce'> & {
  readonly containers: readonly string[];
};

/** A call that changes what runs, as the cloud took it. */
export interface CloudCall {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly member: string;
  readonly call: 'create' | 'delete';
  readonly uid: string;
  readonly nodeName: string;
  /** True: there was such a pod already, or there had been one; false of a deletion: there was none. */
  readonly wasThere: boolean;
}

/** What one member is told of changes: their last number, and the uids with their nodes. */
export interface CloudChanges {
  readonly last: number;
  readonly pods: readonly { readonly uid: string; readonly nodeName: string }[];
}

export const memberHeader = 'x-member';
type Answer = readonly [status: number, body: unknown];

/** How long a question for changes waits for one. */
const longPollMs = 5000;

/**
 * A cloud for the pods of all nodes: they run on in it whoever asks, and change by themselves. It keeps a ledger of the calls that
 * it took, to which nothing but such calls is ever added.
 */
export class Cloud implements AsyncDisposable {
  readonly ledger: CloudCall[] = [];
  /** While true, it answers 503, and does nothing. */
  isAway = false;
  /** While true, it does what it is asked for, and says so to nobody: the connection breaks off. */
  losesAnswers = false;
  readonly #server: Server;
  readonly #pods = new Map<string, CloudPod>();
  /** The uids of all pods that there ever were. */
  readonly #everCreated = new Set<string>();
  readonly #changes: { readonly uid: string; readonly nodeName: string }[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #random: Random;
  #life: NodeJS.Timeout | undefined;

  private constructor(seed: number) {
    this.#random = new Random(seed);
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500);
        response.end(String(error));
      });
    });
  }

  static async start(seed = 1): Promise<Cloud> {
    const cloud = new Cloud(seed);
    cloud.#server.listen(0, '127.0.0.1');
    await once(cloud.#server, 'listening');
    return cloud;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get pods(): readonly Readonly<CloudPod>[] {
    return [...this.#pods.values()];
  }

  /** From now on so many changes a second happen to pods. */
  live(changesPerSecond: number): void {
    clearInterval(this.#life);
    this.#life = setInterval(() => this.changeOne(), 1000 / changesPerSecond);
  }

  /** From now on pods change no more by themselves. */
  freeze(): void {
    clearInterval(this.#life);
  }

  /** Something happens to one pod. */
  changeOne(): void {
    const pod = this.#random.pick([...this.#pods.values()]);
    const container = pod && this.#random.pick(pod.containers);
    if (pod === undefined || container === undefined || pod.containers.every(({ state }) => state === 'exited')) return;
    const dice = this.#random.next();
    if (dice < 0.5 || container.state === 'exited') container.ready = container.state === 'running' && !container.ready;
    else if (!pod.runsOnce) restart(container);
    else if (dice < 0.6) end(container, 0);
    this.#changed(pod);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.freeze();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #changed(pod: CloudPod): void {
    pod.version += 1;
    this.#tell(pod);
  }

  #tell({ uid, nodeName }: CloudPod): void {
    this.#changes.push({ uid, nodeName });
    for (const wake of [...this.#waiting]) wake();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [status, body] = this.isAway ? [503, {}] : await this.#take(request);
    if (this.losesAnswers && request.method !== 'GET') {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #take(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const member = String(request.headers[memberHeader] ?? '');
    const uid = pathname.split('/')[2] ?? '';
    if (pathname === '/changes') return [200, await this.#changesAfter(Number(searchParams.get('after') ?? 0))];
    if (request.method === 'PUT') return this.#create(member, JSON.parse(await bodyOf(request)));
    if (request.method === 'DELETE') return this.#delete(member, uid, searchParams.get('node') ?? '');
    if (uid === '') return [200, this.pods.filter(({ nodeName }) => nodeName === searchParams.get('node'))];
    const pod = this.#pods.get(uid);
    return pod === undefined ? [404, {}] : [200, pod];
  }

  #create(member: string, wanted: WantedPod): Answer {
    const { uid, nodeName } = wanted;
    const wasThere = this.#everCreated.has(uid);
    this.ledger.push({ at: Date.now(), member, call: 'create', uid, nodeName, wasThere });
    if (wasThere) return [409, {}];
    this.#everCreated.add(uid);
    const containers = wanted.containers.map((name) => newContainer(name));
    const pod: CloudPod = { ...wanted, containers, version: 1 };
    this.#pods.set(uid, pod);
    this.#tell(pod);
    return [201, pod];
  }

  #delete(member: string, uid: string, nodeName: string): Answer {
    const pod = this.#pods.get(uid);
    this.ledger.push({ at: Date.now(), member, call: 'delete', uid, nodeName, wasThere: pod !== undefined });
    if (pod === undefined) return [404, {}];
    for (const container of pod.containers) if (container.state === 'running') end(container, 143);
    this.#pods.delete(uid);
    return [200, pod];
  }

  async #changesAfter(after: number): Promise<CloudChanges> {
    if (this.#changes.length <= after) {
      const woken = Promise.withResolvers<void>();
      const timer = setTimeout(woken.resolve, longPollMs);
      this.#waiting.add(woken.resolve);
      await woken.promise;
      this.#waiting.delete(woken.resolve);
      clearTimeout(timer);
    }
    return { last: this.#changes.length, pods: this.#changes.slice(after) };
  }
}

function second(): string {
  return new Date().toISOString().replace(/\.\d+/, '');
}

function newContainer(name: string): CloudContainer {
  return { name, state: 'running', restartCount: 0, startedAt: second(), ready: true };
}

/** A run that begins in the second in which the run before began could not be told from it. */
function restart(container: CloudContainer): void {
  if (container.startedAt === second()) return;
  Object.assign(container, { restartCount: container.restartCount + 1, startedAt: second(), ready: true });
}

function end(container: CloudContainer, exitCode: number): void {
  Object.assign(container, { state: 'exited', exitCode, finishedAt: second(), ready: false });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
