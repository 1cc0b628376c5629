import { request as requestOver } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { GuardedTransport } from '../../../../src/client/transport/guarded-transport.ts';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { makeCertificateRequest } from '../../../../src/node/certificates/certificate-request.ts';
import type { NodePod, PodProvider, ProviderTools } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { SendPods } from '../../../../src/node/sources/pod-source.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { passUntil } from './pass-until.ts';
import { servedNode } from './served-node.ts';
import { WrittenRequests } from './written-requests.ts';

const nodeName = 'guarded';
const containers = [{ name: 'app', image: 'app:1' }];
const withToken = {
  serviceAccountName: 'default',
  containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'token', mountPath: '/token' }] }],
  volumes: [{ name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }] } }],
};
const staticPod = (name: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name, annotations: { 'kubernetes.io/config.hash': name } },
  spec: { nodeName, containers },
});

/** Owned until it is not; notes the writes that are tried. */
function ownership() {
  const tried = new Set<string>();
  const told = { isOwner: true, tried };
  const guard = (): void => {
    if (!told.isOwner) throw new ApiError({ reason: 'NotOwner', message: 'another process owns this node' });
  };
  const over = (transport: KubeTransport) => {
    const guarded = new GuardedTransport(transport, guard);
    return {
      request: (request: KubeRequest) => {
        if (request.method !== 'GET') tried.add(writeOf(request));
        return guarded.request(request);
      },
      stream: guarded.stream.bind(guarded),
    };
  };
  return Object.assign(told, { over });
}

/** The verb and the resource of a write, such as `POST pods/token`. */
function writeOf({ method, path }: Pick<KubeRequest, 'method' | 'path'>): string {
  const [resource, , subresource] = path.replace(/^\/apis?\/([^/]+\/)?v1\/(namespaces\/[^/]+\/)?/, '').split('/');
  return `${method} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

function writesOn(server: InMemoryApiServer) {
  return server.requestsOn('*').filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
}

const writesOfNodes = [
  'DELETE pods',
  'PATCH nodes/status',
  'PATCH pods/status',
  'POST certificatesigningrequests',
  'POST events',
  'POST pods',
  'POST serviceaccounts/token',
  'PUT leases',
];

let server: InMemoryApiServer;
let written: WrittenRequests;
beforeEach(async () => {
  server = await InMemoryApiServer.start();
  written = new WrittenRequests(server.url);
});
afterEach(async () => {
  written.close();
  await server.stop();
});

describe('a provider node over a transport that refuses every write from some moment on', () => {
  it.each([
    [true, { node: 'failed', lease: 'failed' }],
    [false, { node: 'kept', lease: 'kept' }],
  ])('writes nothing from then on, and ends in peace (removeOnStop: %s)', async (removeOnStop, atTheEnd) => {
    const clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
    await using transport = new KubeTransport(server.kubeConfig());
    const owner = ownership();
    const running = new Set<string>();
    let message = 'first';
    let tools: ProviderTools | undefined;
    const provider: PodProvider = {
      createPod: ({ metadata }: NodePod) => void running.add(metadata.uid),
      deletePod: ({ metadata }: NodePod) => void running.delete(metadata.uid),
      getPodStatus: ({ metadata }) => (running.has(metadata.uid) ? { phase: 'Running', message } : undefined),
      notifyPods: (_, given) => {
        tools = given;
      },
    };
    let sendStatic: SendPods = () => {};
    const source = {
      start: (send: SendPods) => {
        sendStatic = send;
        send([]);
      },
      stop: () => {},
    };
    const node = new ProviderNode({
      ...{ transport: owner.over(transport), nodeName, provider, clock, logger: null, sources: { mine: source } },
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      server: { address: '127.0.0.1', port: 0, serverTLSBootstrap: true, makeCertificateRequest },
      removeOnStop,
    });
    await node.start();
    let round = 0;
    /** Everything that makes a node write. */
    const happen = async (): Promise<void> => {
      round += 1;
      const names = [`stays-${round}`, `goes-${round}`];
      const [stays = {}, goes = {}] = names.map((name) =>
        server.store.create({ metadata: { name }, spec: { nodeName, containers } }),
      );
      server.store.create({
        metadata: { name: `token-${round}` },
        spec: { nodeName, ...withToken },
      });
      const uids = [stays, goes].map(({ metadata }) => metadata?.uid ?? '');
      await passUntil(clock, () => uids.every((uid) => running.has(uid)));
      message = `round ${round}`;
      for (const uid of uids) node.notify(uid);
      server.store.delete('default', `goes-${round}`);
      sendStatic([staticPod(`static-${round}`)]);
      tools?.eventRecorder.event(stays, 'Warning', 'Tested', message);
      node.nodeObject.setStatus({ addresses: [{ type: 'InternalIP', address: `10.0.0.${round + 1}` }] });
      // the Lease is renewed every ten seconds, and the addresses of the certificate are looked at
      await until(async () => {
        await clock.advance(500);
        return writesOfNodes.every((write) => owner.tried.has(write));
      });
    };
    await happen();
    await until(() => writesOfNodes.every((write) => written.requests.map(writeOf).includes(write)));

    owner.isOwner = false;
    // what has been given to the sockets before is there
    await until(() => writesOn(server).every(({ status }) => status > 0));
    owner.tried.clear();
    written.requests.length = 0;
    const before = writesOn(server).length;
    await happen();
    await clock.advance(30_000);
    expect(node.snapshot().problems).toContainEqual(expect.objectContaining({ kind: 'not-owner' }));
    const stopped = node.stop({ timeoutMs: 2000 });
    let isStopped = false;
    void stopped.then(() => {
      isStopped = true;
    });
    await until(async () => {
      await clock.advance(100);
      return isStopped;
    });
    expect((await stopped).node).toMatchObject(atTheEnd);
    expect(written.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(writesOn(server)).toHaveLength(before);
  });

  it('asks for no review of who comes to its API', async () => {
    const owner = ownership();
    const { address, apiserver } = await servedNode({ over: (transport) => owner.over(transport) });
    const written = new WrittenRequests(apiserver.url);
    owner.isOwner = false;
    owner.tried.clear();
    written.requests.length = 0;
    const status = await new Promise((resolve) => {
      const headers = { authorization: 'Bearer some-token' };
      requestOver({ ...address, headers, path: '/pods' }, (answer) => resolve(answer.statusCode)).end();
    });
    expect([status, [...owner.tried]]).toEqual([401, ['POST tokenreviews']]);
    written.close();
    expect(written.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
