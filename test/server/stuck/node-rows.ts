import { createServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { createCertificateAuthority, type Serving } from '../../support/certificate-authority.ts';
import type { TestServer } from '../../support/servers.ts';
import { type Fault, type FaultProxy, kubeConfigOf } from './fault-proxy.ts';
import type { StuckNode, StuckNodeOptions } from './stuck-node.ts';
import type { StuckRow } from './stuck-row.ts';

type Instead = (server: TestServer) => Promise<{ readonly options: StuckNodeOptions; readonly close: () => void }>;

/** A way in which a provider node is stuck, with what brings it about. */
export interface NodeRow extends StuckRow {
  readonly options?: StuckNodeOptions;
  /** What the proxy refuses from the start. */
  readonly broken?: (proxy: FaultProxy) => void;
  /** A server in place of the proxy; what it returns ends it. */
  readonly instead?: Instead;
  /** Breaks it once the node is ready; without it the node never gets ready. */
  readonly arrange?: (stuck: StuckNode) => Promise<void>;
  /** True: it is over soon after the proxy refuses nothing more. */
  readonly heals?: true;
  /** Makes what was missing: it is over soon after. */
  readonly mend?: (stuck: StuckNode) => Promise<void>;
}

export const refusal = (code: number, reason: string, message: string, retryAfter?: number): Fault => ({
  kind: 'status',
  code,
  reason,
  message,
  ...(retryAfter !== undefined && { retryAfter }),
});

const refuseAll = async (): Promise<never> => {
  throw new ApiError({ reason: 'NotOwner', message: 'another process owns this node' });
};

const notInStep = { message: 'the node could not be kept in step' };
const noList = { message: 'listing or watching failed' };

/** What another agent makes of the Lease. */
const renewalOfAnother = (holderIdentity: string) => {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const mark = JSON.stringify({ agent: 'process 7 on host-b', id: 'other', renewTime });
  return { metadata: { annotations: { 'pod-status-manager/renewed-by': mark } }, spec: { holderIdentity, renewTime } };
};

const rights =
  "Give this agent's user the right that is missing: the message names both. deploy/rbac.yaml has all that an agent needs.";
const wrongCA =
  'Put the CA of this server into the kubeconfig: its certificate is of another one. Or a proxy answers in its place.';

/** A server with a certificate of this kind; the kubeconfig has its CA unless it is `foreign`. */
function tls(serving: Serving, isForeign = false): Instead {
  return async () => {
    const ca = createCertificateAuthority('the CA of the server');
    const { cert, key } = ca.issue(serving);
    const server: TlsServer = createServer({ cert, key }, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const trusted = isForeign ? createCertificateAuthority('another CA') : ca;
    const { port } = server.address() as AddressInfo;
    const caData = Buffer.from(trusted.cert).toString('base64');
    const kubeConfig = kubeConfigOf({ name: 'tls', server: `https://127.0.0.1:${port}`, caData });
    return { options: { kubeConfig }, close: () => closeAll(server) };
  };
}

function closeAll(server: TlsServer): void {
  server.close();
  server.closeAllConnections();
}

const elsewhere = (server: string): Instead => {
  return async () => ({ options: { kubeConfig: kubeConfigOf({ name: 'elsewhere', server }) }, close: () => {} });
};

/** A proxy of the network that lets nobody through. */
const closedProxy: Instead = async () => {
  const proxy = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    options: { kubeConfig: kubeConfigOf({ name: 'proxied', server: 'https://192.0.2.1:6443', proxyUrl }) },
    close: () => proxy.close(),
  };
};

/** A port on which nothing listens. */
const nobody: Instead = async () => {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { options: { kubeConfig: kubeConfigOf({ name: 'nobody', server: `http://127.0.0.1:${port}` }) }, close: () => {} };
};

export const connectionRows: readonly NodeRow[] = [
  {
    id: 'server-dead',
    title: 'nothing listens at the address of the apiserver',
    about: 'node',
    kind: 'connection-refused',
    words: 'ECONNREFUSED',
    log: notInStep,
    help: 'Start the apiserver, or correct the address: nothing listens there.',
    instead: nobody,
  },
  {
    id: 'server-silent',
    title: 'the apiserver takes requests and answers none',
    about: 'node',
    kind: 'timeout',
    words: 'no answer within 300 ms',
    log: notInStep,
    help: 'See whether the apiserver is overloaded, or the network drops packets: it was reached, and gave no answer.',
    options: { requestTimeoutMs: 300 },
    broken: (proxy) => proxy.fail(/nodes/, { kind: 'silence' }),
  },
  {
    id: 'server-fails',
    heals: true,
    title: 'the apiserver answers 503',
    about: 'node',
    kind: 'unavailable',
    words: 'etcd is down',
    log: notInStep,
    help: 'See whether the apiserver is up, and whether what lies between lets requests through.',
    broken: (proxy) => proxy.fail(/nodes/, refusal(503, 'ServiceUnavailable', 'etcd is down')),
  },
  {
    id: 'server-throttles',
    title: 'the apiserver has no room for requests of the node (429)',
    about: 'node',
    kind: 'throttled',
    words: 'too many requests',
    log: notInStep,
    help: 'Give the agent a priority level of its own, as deploy/flow-schema.yaml does.',
    broken: (proxy) => proxy.fail(/nodes/, refusal(429, 'TooManyRequests', 'too many requests', 1)),
  },
  {
    id: 'certificate-expired',
    title: "the apiserver's certificate has expired",
    about: 'node',
    kind: 'certificate-expired',
    words: 'certificate has expired',
    log: notInStep,
    help: "Renew the server's certificate, or set this machine's clock.",
    instead: tls({ notAfter: '210101000000Z' }),
  },
  {
    id: 'wrong-ca',
    title: "the apiserver's certificate is of another CA than the kubeconfig's",
    about: 'node',
    kind: 'wrong-ca',
    words: 'certificate',
    log: notInStep,
    help: wrongCA,
    instead: tls({}, true),
  },
  {
    id: 'wrong-name',
    title: "the apiserver's certificate is for another name",
    about: 'node',
    kind: 'wrong-name',
    words: "does not match certificate's altnames",
    log: notInStep,
    help: 'Name the server in the kubeconfig as its certificate does, or set tls-server-name.',
    instead: tls({ dnsName: 'other.example' }),
  },
  {
    id: 'dns',
    title: 'the name of the apiserver cannot be resolved',
    about: 'node',
    kind: 'dns',
    words: 'no-such-server.invalid',
    log: notInStep,
    help: 'Correct the name of the server in the kubeconfig, or the DNS of this machine.',
    instead: elsewhere('https://no-such-server.invalid:6443'),
  },
  {
    id: 'proxy-refuses',
    title: 'the proxy of the kubeconfig lets nobody through',
    about: 'node',
    kind: 'proxy',
    words: '407',
    log: notInStep,
    help: 'Correct proxy-url of the kubeconfig, or its credentials: the proxy made no connection to the apiserver.',
    instead: closedProxy,
  },
  {
    id: 'html',
    heals: true,
    title: 'somebody else answers in the place of the apiserver: HTML in place of JSON',
    about: 'node',
    kind: 'broken-answer',
    words: 'JSON',
    log: notInStep,
    help: 'See who answers at this address: a proxy or another server may stand in front of the apiserver.',
    broken: (proxy) => proxy.fail(/nodes/, { kind: 'html', code: 200 }),
  },
  {
    id: 'not-found',
    title: 'somebody else answers 404: a path of the address, or a proxy, is wrong',
    about: 'node',
    kind: 'unavailable',
    words: '404',
    log: notInStep,
    help: 'See whether the apiserver is up, and whether what lies between lets requests through.',
    broken: (proxy) => proxy.fail(/nodes/, { kind: 'html', code: 404 }),
  },
  {
    id: 'unauthorized',
    title: 'the apiserver does not know the user (401)',
    about: 'node',
    kind: 'unauthorized',
    words: 'Unauthorized',
    log: notInStep,
    help: 'Renew the credentials: the apiserver does not take those of the kubeconfig.',
    broken: (proxy) => proxy.fail(/nodes/, refusal(401, 'Unauthorized', 'Unauthorized')),
  },
];

export const nodeRows: readonly NodeRow[] = [
  {
    id: 'forbidden-nodes',
    heals: true,
    title: 'no right to create the node (403)',
    about: 'node',
    kind: 'forbidden',
    words: 'cannot create resource "nodes"',
    log: notInStep,
    help: rights,
    broken: (proxy) =>
      proxy.fail(
        /POST \/api\/v1\/nodes/,
        refusal(403, 'Forbidden', 'nodes is forbidden: User "agent" cannot create resource "nodes"'),
      ),
  },
  {
    id: 'forbidden-pods',
    heals: true,
    title: 'no right to list pods (403)',
    about: 'node',
    kind: 'forbidden',
    words: 'cannot list resource "pods"',
    log: noList,
    help: rights,
    broken: (proxy) =>
      proxy.fail(/GET \/api\/v1\/pods/, refusal(403, 'Forbidden', 'pods is forbidden: User "agent" cannot list resource "pods"')),
  },
  {
    id: 'forbidden-watch',
    title: 'no right to watch pods (403), or the watch ends and is refused',
    about: 'node',
    kind: 'forbidden',
    words: 'cannot watch resource "pods"',
    log: noList,
    help: rights,
    arrange: async ({ proxy }) => {
      proxy.fail(
        /GET \/api\/v1\/pods/,
        refusal(403, 'Forbidden', 'pods is forbidden: User "agent" cannot watch resource "pods"'),
      );
      proxy.cut();
    },
  },
  {
    id: 'forbidden-node-watch',
    title: 'no right to watch nodes (403): the node is read before each write',
    about: 'node',
    kind: 'forbidden',
    words: 'cannot watch resource "nodes"',
    log: noList,
    help: rights,
    broken: (proxy) =>
      proxy.fail(
        /GET \/api\/v1\/nodes\?.*watch=true/,
        refusal(403, 'Forbidden', 'nodes is forbidden: User "agent" cannot watch resource "nodes"'),
      ),
    arrange: async () => {},
  },
  {
    id: 'forbidden-lease',
    heals: true,
    title: 'no right to the Lease of the node (403): the cluster takes the node for dead',
    about: 'node',
    kind: 'forbidden',
    words: 'cannot update resource "leases"',
    log: { message: 'the Lease of the node could not be renewed' },
    help: rights,
    options: { leaseDurationSeconds: 4 },
    arrange: async ({ proxy }) =>
      proxy.fail(/leases/, refusal(403, 'Forbidden', 'leases is forbidden: User "agent" cannot update resource "leases"')),
  },
  {
    id: 'forbidden-events',
    title: 'no right to write events (403): `kubectl describe` shows none',
    about: 'node',
    kind: 'events',
    words: 'cannot create resource "events"',
    log: { message: 'an event was refused: it is not written' },
    help: 'Let the agent create and patch events (deploy/rbac.yaml), or see why the apiserver does not answer.',
    broken: (proxy) =>
      proxy.fail(
        /POST .*\/events$/,
        refusal(403, 'Forbidden', 'events is forbidden: User "agent" cannot create resource "events"'),
      ),
    arrange: async () => {},
  },
  {
    id: 'two-agents',
    title: 'two agents run under one node name',
    about: 'node',
    kind: 'two-agents',
    words: 'process 7 on host-b',
    log: { message: 'another agent renews the Lease of this node: two agents run under one name' },
    event: { reason: 'TwoAgents' },
    help: 'End one of the two agents, or give it a node name of its own.',
    retried: false,
    options: { leaseDurationSeconds: 2 },
    arrange: async ({ server, name, node }) => {
      const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`;
      // each of the two renews again and again
      for (let turn = 0; turn < 200 && node.nodeObject.explain().rival === undefined; turn++) {
        await server.admin.patch(path, renewalOfAnother(name), 'merge');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  },
  {
    id: 'no-node',
    title: 'the Node object is not there, and `registerNode` is false',
    about: 'node',
    kind: 'no-node',
    words: 'is not there, and registerNode is false',
    log: { message: 'the node could not be kept in step' },
    help: 'Create the Node object of this name, or let the agent do it with registerNode: true.',
    options: { registerNode: false },
  },
  {
    id: 'not-ready',
    title: "the agent's own `readiness` says no",
    about: 'node',
    kind: 'not-ready',
    words: 'the cloud does not answer',
    help: 'See why the function `readiness`, or a part that it asks, says no.',
    retried: false,
    options: { readiness: () => ({ ready: false, message: 'the cloud does not answer' }) },
  },
  {
    id: 'source-silent',
    title: 'a source of pods of your own has never sent a list',
    about: 'node',
    kind: 'source-silent',
    words: 'the source "mute" has not sent its pods',
    help: 'See why the source sends no list.',
    retried: false,
    options: { sources: { mute: { start() {}, stop() {} } } },
  },
  {
    id: 'get-pods-fails',
    title: 'the provider gives no list of its pods at the start',
    about: 'node',
    kind: 'get-pods',
    words: 'cloud: no credentials',
    log: { message: 'the provider gave no list of its pods; each pod is asked about' },
    help: 'See why the provider gives no list: what an earlier run of the agent has left is not known, and each pod is asked about.',
    options: {
      provider: {
        getPods() {
          throw new Error('cloud: no credentials');
        },
      },
    },
  },
  {
    id: 'adopt-fails',
    title: 'the provider does not adopt the pods that an earlier run has begun',
    about: 'node',
    kind: 'adopt',
    words: 'cloud: no credentials',
    log: { message: 'the provider has not adopted the pods that an earlier run has begun' },
    help: 'See why the provider does not adopt the pods that an earlier run has begun: one that it does not know is neither created again nor counted as ended until then.',
    options: {
      provider: {
        adopt() {
          throw new Error('cloud: no credentials');
        },
      },
    },
  },
  {
    id: 'not-owner',
    title: 'another process has taken over what this one writes: its transport lets no request through',
    about: 'node',
    kind: 'not-owner',
    words: 'another process owns this node',
    log: { message: 'the node could not be kept in step' },
    help: 'Nothing is to be done where another process has taken this over: it writes in the place of this one. Otherwise see why this one could not renew its Lease.',
    options: { transport: { request: refuseAll, stream: refuseAll } },
  },
];
