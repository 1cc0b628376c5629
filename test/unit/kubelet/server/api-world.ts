import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as requestOver } from 'node:https';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { KubeletApiHost, KubeletApiOptions } from '../../../../src/kubelet/server/api-options.ts';
import { KubeletApi } from '../../../../src/kubelet/server/kubelet-api.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { type ClientName, createCertificateAuthority, type KeyedCertificate } from '../../../support/certificate-authority.ts';
import { tempDir } from '../../../support/temp-dir.ts';

export interface Review {
  readonly path: string;
  // biome-ignore format: one line
  readonly spec: { readonly token?: string; readonly user?: string; readonly groups?: readonly string[]; readonly resourceAttributes?: Record<string, string> };
}

/** An apiserver's reviews, which a test answers. */
class FakeReviews {
  readonly asked: Review[] = [];
  /** By default the token `good` is that of `alice`. */
  token: (token: string) => unknown = (token) => {
    return {
      status: token === 'good' ? { authenticated: true, user: { username: 'alice', groups: ['dev'] } } : { authenticated: false },
    };
  };
  /** By default everything is allowed. */
  access: (spec: Review['spec']) => unknown = () => ({ status: { allowed: true } });

  readonly transport = {
    request: async ({ path, body }: { path: string; body: { spec: Review['spec'] } }) => {
      this.asked.push({ path, spec: body.spec });
      return path.endsWith('/tokenreviews') ? this.token(body.spec.token ?? '') : this.access(body.spec);
    },
    stream: () => Promise.reject(new Error('no streams')),
  } as unknown as ResourceTransport;

  /** The rights that were asked for: `get nodes/proxy`. */
  get rights(): string[] {
    return this.asked.flatMap(({ spec: { resourceAttributes: asked } }) =>
      asked ? [`${asked.verb} nodes/${asked.subresource}`] : [],
    );
  }
}

const pod: Pod = {
  metadata: { namespace: 'default', name: 'web', uid: 'u1' },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
  status: { phase: 'Running', containerStatuses: [runningStatus('app')] },
} as Pod;

function runningStatus(name: string) {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return { name, state, containerID: `containerd://${name}-1`, ready: true, restartCount: 0, image: '', imageID: '' };
}

/** A node with one pod, `default/web`, whose container `app` runs. */
export function fakeHost(changes: Partial<KubeletApiHost> = {}): KubeletApiHost {
  const fails = () => Promise.reject(new Error('not in this test'));
  return {
    runtime: { containerStatus: fails, exec: fails, execSync: fails, attach: fails, portForward: fails },
    pods: () => [pod],
    pod: (namespace, name, uid) => (namespace === 'default' && name === 'web' && (uid ?? 'u1') === 'u1' ? pod : undefined),
    runningPods: async () => [pod],
    runningContainerID: async (_, name) => (name === 'app' ? 'app-1' : undefined),
    sandboxID: async () => 's-1',
    healthChecks: () => [],
    metrics: () => 'up 1\n',
    statsSummary: async () => ({ node: { nodeName: 'node-1', startTime: '2026-01-01T00:00:00Z' }, pods: [] }),
    configz: () => ({ nodeName: 'node-1' }),
    ...changes,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Sent {
  readonly method?: string;
  readonly client?: KeyedCertificate | undefined;
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

export interface WorldOptions extends Partial<KubeletApiOptions> {
  /** False: there is no file of authorities that sign for clients. */
  readonly trustsClients?: boolean;
}

/** A kubelet API on a free port, with an authority that signs for clients. */
export async function apiWorld({ trustsClients = true, ...options }: WorldOptions = {}) {
  const reviews = new FakeReviews();
  const clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
  const [serving, clients] = [createCertificateAuthority('serving'), createCertificateAuthority('clients')];
  const folder = await tempDir();
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), clientCAFile: join(folder, 'ca.crt') };
  const { cert, key } = serving.issue();
  await Promise.all([
    writeFile(files.certFile, cert),
    writeFile(files.keyFile, key),
    writeFile(files.clientCAFile, clients.cert),
  ]);
  const logged: string[] = [];
  const log = (_: object, message: string): void => void logged.push(message);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const api = new KubeletApi({
    ...{
      host: fakeHost(),
      nodeName: 'node-1',
      tls: trustsClients ? files : { certFile: files.certFile, keyFile: files.keyFile },
      transport: reviews.transport,
      address: '127.0.0.1',
      port: 0,
      clock,
      logger,
    },
    ...options,
  });
  onTestFinished(() => api.close());
  const { port } = await api.listen();
  const admin = clients.issueClient({ commonName: 'apiserver', organizations: ['system:masters'] });
  const server = { host: '127.0.0.1', port, ca: [serving.cert] };
  const send = async (path: string, sent: Sent = {}): Promise<IncomingMessage> => {
    const { token } = sent;
    const client = 'client' in sent ? sent.client : admin;
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...sent.headers };
    const asked = requestOver({ ...server, ...client, path, method: sent.method ?? 'GET', headers, agent: false });
    onTestFinished(() => void asked.destroy());
    asked.end();
    const [answer] = await once(asked, 'response');
    return answer as IncomingMessage;
  };
  const get = async (path: string, sent: Sent = {}): Promise<Answer> => {
    const answer = await send(path, sent);
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  };
  /** A connection of its own, for what no client library would send. */
  const raw = async (client: KeyedCertificate | undefined = admin): Promise<TLSSocket> => {
    const options: ConnectionOptions & { allowHalfOpen: boolean } = { ...server, ...client, allowHalfOpen: true };
    const socket = connect(options);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  const issue = (client: ClientName): KeyedCertificate => clients.issueClient(client);
  return { api, port, reviews, clock, files, serving, clients, admin, logged, issue, send, get, raw };
}

/** All that comes from a socket until its end. */
export async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}
