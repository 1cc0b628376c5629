import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeletApi } from '../../../../../src/kubelet.ts';
import { createCertificateAuthority } from '../../../../support/certificate-authority.ts';
import { nextTurn } from '../../../simulation/simulated-clock.ts';
import { nodeName, type SoakPart, type SoakSubject, type SoakWorld } from '../../soak-world.ts';
import { ApiClient, type ApiConnection } from './api-connection.ts';
import { heldThings } from './held-things.ts';
import { reviewer } from './reviewer.ts';
import { SoakNode, type SoakPod } from './soak-node.ts';
import { type StreamServer, startStreamServer } from './stream-server.ts';
import * as visits from './visits.ts';

const streamIdleTimeoutMs = 600_000;
/** Sockets and files take real time. A round that takes longer hangs. */
const longestRoundMs = 60_000;

/** The kubelet's own API over real sockets, with clients of every sort. A change is a request, or a connection without one. */
export const kubeletApiPart: SoakPart = {
  name: 'kubeletApi',
  async open(world) {
    const folder = await mkdtemp(join(tmpdir(), 'soak-kubelet-api-'));
    const streams = await startStreamServer((socket) => world.expectGone(socket));
    const subject = new KubeletApiSubject(world, folder, streams);
    await subject.start();
    return subject;
  },
};

class KubeletApiSubject implements SoakSubject {
  readonly #world: SoakWorld;
  readonly #folder: string;
  readonly #streams: StreamServer;
  readonly #node: SoakNode;
  readonly #serving = createCertificateAuthority('serving');
  readonly #clients = createCertificateAuthority('clients');
  readonly #api: KubeletApi;
  #parts!: visits.VisitParts;
  /** A pod that stays, and a connection that does. */
  #large!: SoakPod;
  #reader!: ApiConnection;
  #resting = { sockets: 0, files: 0 };
  /** Node.js warns of files that nobody closes, and of listeners that are too many. */
  #warning: Error | undefined;
  readonly #noteWarning = (warning: Error): void => {
    this.#warning ??= warning;
  };

  constructor(world: SoakWorld, folder: string, streams: StreamServer) {
    this.#world = world;
    this.#folder = folder;
    this.#streams = streams;
    this.#node = new SoakNode(world, folder, streams.url);
    this.#api = new KubeletApi({
      ...{ host: this.#node.host, nodeName, transport: reviewer(world), address: '127.0.0.1', port: 0 },
      tls: { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), clientCAFile: join(folder, 'ca.crt') },
      ...{ streamIdleTimeoutMs, clock: world.partClock, logger: null },
    });
  }

  async start(): Promise<void> {
    await this.#node.start();
    await Promise.all([this.#serveAnew(), writeFile(join(this.#folder, 'ca.crt'), this.#clients.cert)]);
    const { port } = await this.#api.listen();
    const server = { port, ca: this.#serving.cert };
    const administrator = this.#clients.issueClient({ commonName: 'apiserver', organizations: ['system:masters'] });
    const admin = new ApiClient(server, administrator);
    this.#parts = { world: this.#world, node: this.#node, admin, stranger: new ApiClient(server) };
    this.#large = await this.#node.add(
      'large',
      Array.from({ length: 200 }, (_, i) => `line ${i} ${'x'.repeat(16_000)}`),
    );
    await this.#awaited(visits.fillReviews(this.#parts));
    this.#reader = await admin.connect();
    this.#resting = heldThings();
    process.on('warning', this.#noteWarning);
  }

  async churn(round: number): Promise<number> {
    const [world, parts] = [this.#world, this.#parts];
    if (round % 200 === 3) await this.#renewCertificate();
    const [ending, going, other] = await Promise.all(
      ['ending', 'going', 'other'].map((name) => this.#node.add(`${round}-${name}`, ['line 1', 'line 2'])),
    );
    const pods = { ending, going, other } as visits.RoundPods;
    for (const { pod } of Object.values(pods)) world.expectGone(pod);
    await world.pass(100);
    const silent = round % 4 === 0 ? await this.#awaited(visits.openSilentStreams(parts, other as SoakPod)) : [];
    const made = await this.#awaited(
      Promise.all([
        visits.readPages(this.#reader),
        visits.showTokens(parts, round),
        visits.breakRules(parts, pods),
        visits.readLogs(parts, pods, this.#large),
        visits.openStreams(parts, pods),
        visits.leaveEarly(parts, pods, round),
      ]),
    );
    for (const pod of [ending, other]) await this.#node.remove(pod as SoakPod);
    if (silent.length > 0) await world.pass(streamIdleTimeoutMs);
    await this.#awaited(Promise.all(silent.map((connection) => connection.rest())));
    await world.pass(40_000);
    await this.#awaited(this.#quiet(round));
    if (this.#warning !== undefined) throw this.#warning;
    this.#node.forgetHistory();
    return visits.sum(made) + silent.length;
  }

  /** Streams are open, and a log is followed, when the API ends. */
  async stop(): Promise<void> {
    process.off('warning', this.#noteWarning);
    const silent = await this.#awaited(visits.openSilentStreams(this.#parts, this.#large));
    await this.#awaited(this.#api.close());
    await this.#awaited(Promise.all([...silent, this.#reader].map((connection) => connection.rest())));
    await this.#node.stop();
    await this.#streams.close();
    await rm(this.#folder, { recursive: true });
  }

  /** The connection that stays is ended then, as all are that show what was verified before. */
  async #renewCertificate(): Promise<void> {
    await this.#serveAnew();
    await this.#awaited(this.#reader.rest());
    this.#reader = await this.#parts.admin.connect();
  }

  async #serveAnew(): Promise<void> {
    const { cert, key } = this.#serving.issue();
    await Promise.all([writeFile(join(this.#folder, 'tls.crt'), cert), writeFile(join(this.#folder, 'tls.key'), key)]);
  }

  /** The server ends a connection, and closes a file, a little after its client has left. */
  async #quiet(round: number): Promise<void> {
    const until = performance.now() + longestRoundMs / 2;
    for (;;) {
      const { sockets, files } = heldThings();
      const left = { sockets: sockets - this.#resting.sockets, files: files - this.#resting.files };
      if (left.sockets <= 0 && left.files <= 0) return;
      if (performance.now() > until) throw new Error(`round ${round} has left ${left.sockets} sockets and ${left.files} files`);
      await nextTurn();
    }
  }

  /** Lets time pass until the work has settled. */
  async #awaited<T>(work: Promise<T>): Promise<T> {
    const until = performance.now() + longestRoundMs;
    let hasSettled = false;
    const settled = (): void => {
      hasSettled = true;
    };
    work.then(settled, settled);
    while (!hasSettled) {
      if (performance.now() > until) throw new Error('the end of the round does not come');
      await this.#world.pass(10);
    }
    return work;
  }
}
