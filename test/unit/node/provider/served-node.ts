import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as requestOver } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import type { NodeServerOptions } from '../../../../src/node/server/serving-settings.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { passUntil } from './pass-until.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

export interface ServedNodeOptions extends Omit<Partial<ProviderNodeOptions>, 'server' | 'provider'> {
  readonly provider?: Partial<PodProvider>;
  readonly server?: Partial<NodeServerOptions>;
  /** What the node's requests go over, made of the transport to its apiserver. */
  readonly over?: (transport: KubeTransport) => ResourceTransport;
}

/** The files of a server's certificate, and who has signed it. */
export async function servingFiles() {
  const [serving, clients] = [createCertificateAuthority('serving'), createCertificateAuthority('clients')];
  const folder = await tempDir();
  const files = {
    tlsCertFile: join(folder, 'tls.crt'),
    tlsPrivateKeyFile: join(folder, 'tls.key'),
    clientCAFile: join(folder, 'ca.crt'),
  };
  const { cert, key } = serving.issue();
  await Promise.all([
    writeFile(files.tlsCertFile, cert),
    writeFile(files.tlsPrivateKeyFile, key),
    writeFile(files.clientCAFile, clients.cert),
  ]);
  return { files, serving, clients };
}

/**
 * A provider's node that serves its API on a free port, and whose pod `default/web` has the containers `app`, `setup` (an init container)
 * and `debug` (an ephemeral one, with a terminal).
 */
export async function servedNode({
  provider = {},
  server = {},
  over = (transport) => transport,
  ...options
}: ServedNodeOptions = {}) {
  const reviews: { allows: boolean; refusal: Error | undefined } = { allows: true, refusal: undefined };
  const apiserver = await InMemoryApiServer.start({ authorize: () => reviews.allows });
  onTestFinished(() => apiserver.stop());
  const clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
  const { files, serving, clients } = await servingFiles();
  const logged: [object, string][] = [];
  const log = (fields: object, message: string): number => logged.push([fields, message]);
  const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
  const transport = new KubeTransport(apiserver.kubeConfig());
  onTestFinished(() => transport.close());
  const request = transport.request.bind(transport);
  transport.request = async (asked: KubeRequest) => {
    if (asked.path.endsWith('subjectaccessreviews') && reviews.refusal !== undefined) throw reviews.refusal;
    return request(asked);
  };
  const node = new ProviderNode({
    ...{ transport: over(transport), nodeName: 'served', clock, logger },
    provider: { createPod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }), ...provider },
    server: { ...files, address: '127.0.0.1', port: 0, ...server },
    ...options,
  });
  onTestFinished(async () => void (await node.stop({ timeoutMs: 0 })));
  await node.start();
  const { uid } = await createPod(apiserver);
  await passUntil(clock, () => node.podManager.getPods().length === 1);
  const status = () => node.nodeObject.node?.status;
  const port = status()?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const admin = clients.issueClient({ commonName: 'apiserver', organizations: ['system:masters'] });
  const address = { host: '127.0.0.1', port, ca: [serving.cert], agent: false };
  const send = async (path: string, method = 'GET', client: object = admin): Promise<IncomingMessage> => {
    const asked = requestOver({ ...address, ...client, path, method });
    onTestFinished(() => void asked.destroy());
    asked.end();
    const [answer] = await once(asked, 'response');
    return answer as IncomingMessage;
  };
  const get = async (path: string, method?: string, client?: object): Promise<ApiAnswer> => {
    const answer = await send(path, method, client);
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return { status: answer.statusCode ?? 0, text };
  };
  return { node, apiserver, clock, reviews, logged, uid, port, status, address, admin, send, get };
}

async function createPod(apiserver: InMemoryApiServer): Promise<{ readonly uid: string }> {
  const pod = apiserver.store.create({
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      nodeName: 'served',
      containers: [{ name: 'app', image: 'app:1' }],
      initContainers: [{ name: 'setup', image: 'app:1' }],
      ephemeralContainers: [{ name: 'debug', image: 'app:1', tty: true, stdin: true }],
    },
  } as Pod);
  return { uid: pod.metadata?.uid ?? '' };
}
