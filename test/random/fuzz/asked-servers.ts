import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createStreamServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { safeClock, systemClock } from '../../../src/base/clock.ts';
import { createDebugHandler } from '../../../src/debug.ts';
import { BasicPodManager, type Logger, type Pod, StatusManager } from '../../../src/index.ts';
import { KubeletApi, type KubeletApiHost, type KubeletApiOptions, type ServingFiles } from '../../../src/kubelet.ts';
import { ProviderApiHost } from '../../../src/node/provider/provider-api-host.ts';
import { NodeApiServer } from '../../../src/node/server/node-api-server.ts';
import { resolveServer } from '../../../src/node/server/serving-settings.ts';
import type { PodProvider } from '../../../src/node.ts';
import { buildContainerStatus, buildPod } from '../../../src/testing.ts';
import { createCertificateAuthority } from '../../support/certificate-authority.ts';
import type { Prng } from '../chaos/prng.ts';
import { repeated } from './answer.ts';
import type { Asked } from './requests.ts';

/** The servers of this library, with something to show. */
export interface AskedServers extends AsyncDisposable {
  readonly ports: Readonly<Record<Asked, number>>;
  /** One of the pods changes. */
  change(): void;
}

const pods = 100;

function podOf(number: number): Pod {
  const pod = buildPod({ metadata: { name: number === 0 ? 'web' : `web-${number}`, uid: `uid-${number}` } });
  const containerStatuses = [buildContainerStatus({ containerID: 'fake://app-1' })];
  return { ...pod, status: { phase: 'Running', containerStatuses } };
}

/** A runtime's server of streams; how one behaves is in its path. */
async function streamServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const open = new Set<Socket>();
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
  const server = createStreamServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.once('data', (head) => {
      const [, kind] = /^[A-Z]+ \/(\S*) /.exec(head.toString('latin1')) ?? [];
      if (kind === 'refuse') socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      else if (kind === 'endless-refusal') {
        socket.write('HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n');
        for (const piece of repeated('64\r\n0123456789\r\n', 1_000_000)) socket.write(piece);
      } else if (kind === 'reset') socket.resetAndDestroy();
      else if (kind === 'garbage') socket.end('\u0000\u0001 no HTTP\r\n\r\n');
      else if (kind === 'flood') {
        socket.write(switched);
        for (const piece of repeated('flood', 2_000_000)) socket.write(piece);
        socket.end();
      } else if (kind === 'late-end') socket.write(switched);
      else if (kind !== 'silent') {
        socket.write(switched);
        socket.on('data', (bytes) => void socket.write(bytes)).on('end', () => socket.end());
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function hostOf(streams: string, logPath: string): KubeletApiHost {
  const pod = podOf(0);
  return {
    runtime: {
      containerStatus: async () => ({ state: 'running', logPath }) as never,
      exec: async (_, [kind]) => `${streams}/${kind === undefined ? '' : encodeURIComponent(kind.slice(0, 100))}`,
      execSync: async () => ({ stdout: new Uint8Array(Buffer.from('done')), stderr: new Uint8Array(), exitCode: 0 }),
      attach: async () => `${streams}/echo`,
      portForward: async () => `${streams}/echo`,
    },
    pods: () => [pod],
    pod: (namespace, name, uid) => (namespace === 'default' && name === 'web' && (uid ?? 'uid-0') === 'uid-0' ? pod : undefined),
    runningPods: async () => [pod],
    runningContainerID: async (_, name) => (name === 'app' ? 'app-1' : undefined),
    sandboxID: async () => 's-1',
    healthChecks: () => [{ name: 'ping', check: () => {} }],
    metrics: () => 'up 1\n',
    statsSummary: async () => ({ node: { nodeName: 'node-1', startTime: '2026-01-01T00:00:00Z' }, pods: [] }),
    configz: () => ({ nodeName: 'node-1' }),
  };
}

/** An apiserver that knows one token, `good`, whose owner may do everything. */
const reviews = {
  request: async ({ path, body }: { path: string; body: { spec: { token?: string } } }) => {
    if (!path.endsWith('/tokenreviews')) return { status: { allowed: true } };
    return {
      status: body.spec.token === 'good' ? { authenticated: true, user: { username: 'alice' } } : { authenticated: false },
    };
  },
  stream: () => Promise.reject(new Error('nobody streams')),
} as unknown as KubeletApiOptions['transport'];

/** A provider whose containers echo. */
const provider: PodProvider = {
  createPod() {},
  deletePod() {},
  getPodStatus: () => undefined,
  getContainerLogs: () => Readable.from(repeated('a line\n', 5000)),
  runInContainer: async (_pod, _container, _command, { stdin, stdout }) => {
    await (stdin === undefined ? undefined : finished(stdin.pipe(stdout ?? new PassThrough().resume())).catch(() => {}));
    return 0;
  },
  attachToContainer: async (_pod, _container, { stdout }) => {
    stdout?.write('attached');
    return 0;
  },
  portForward: (_pod, _port, stream) => finished(stream.pipe(stream)).catch(() => {}),
  getStatsSummary: () => ({ node: { nodeName: 'node-1', startTime: '2026-01-01T00:00:00Z' }, pods: [] }),
};

function providerServer(podManager: BasicPodManager, statusManager: StatusManager, tls: ServingFiles, logger: Logger) {
  const clock = safeClock(systemClock);
  const { certFile: tlsCertFile, keyFile: tlsPrivateKeyFile, clientCAFile = '' } = tls;
  const server = resolveServer({ tlsCertFile, tlsPrivateKeyFile, clientCAFile, address: '127.0.0.1', port: 0 });
  const { streamIdleTimeoutMs } = server;
  const facts = { podManager, statusManager, provided: { getPods: async () => [] }, loop: { lastIterationAt: () => Date.now() } };
  const host = new ProviderApiHost({ provider, ...facts, metricsText: () => 'up 1\n', streamIdleTimeoutMs, clock, logger });
  return new NodeApiServer({ ...server, host, nodeName: 'node-1', transport: reviews, clock, logger });
}

/** Starts all servers; `logger` gets what they log. */
export async function askedServers(prng: Prng, logger: Logger): Promise<AskedServers> {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), clientCAFile: join(folder, 'ca.crt') };
  const authority = createCertificateAuthority('fuzz');
  const { cert, key } = authority.issue();
  const logPath = join(folder, '0.log');
  const line = (number: number): string => `2026-01-01T00:00:00.${String(number).padStart(9, '0')}Z stdout F line ${number}\n`;
  await writeFile(logPath, Array.from({ length: 500 }, (_, number) => line(number)).join(''));
  await Promise.all([writeFile(tls.certFile, cert), writeFile(tls.keyFile, key), writeFile(tls.clientCAFile, authority.cert)]);
  const streams = await streamServer();
  const host = hostOf(streams.url, logPath);
  const api = new KubeletApi({ host, nodeName: 'node-1', tls, transport: reviews, address: '127.0.0.1', port: 0, logger });
  const { port: kubeletPort } = await api.listen();

  const podManager = new BasicPodManager();
  const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
  const manager = new StatusManager({
    podClient: null,
    podManager,
    podDeletionSafety,
    logger: null,
  });
  const shown = Array.from({ length: pods }, (_, number) => podOf(number));
  const change = (): void => {
    const pod = prng.pick(shown) as Pod;
    manager.setPodStatus(pod, { phase: 'Running', message: `change ${prng.int(0, 1e9)}` });
  };
  for (const pod of shown) podManager.addPod(pod);
  for (const pod of shown) manager.setPodStatus(pod, { phase: 'Running' });
  const providerApi = providerServer(podManager, manager, tls, logger);
  const { port: providerPort } = await providerApi.listen();
  const debug = createDebugHandler({ manager, logger });
  const server = createServer(debug).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ports: { kubelet: kubeletPort, provider: providerPort, debug: (server.address() as AddressInfo).port },
    change,
    async [Symbol.asyncDispose]() {
      debug.close();
      server.close();
      server.closeIdleConnections();
      await Promise.all([api.close(), providerApi.close(), once(server, 'close')]);
      await manager.stop();
      await streams[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
