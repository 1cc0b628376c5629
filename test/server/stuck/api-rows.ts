import { once } from 'node:events';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { createCertificateAuthority } from '../../support/certificate-authority.ts';
import { type NodeRow, refusal } from './node-rows.ts';
import type { StuckNode, StuckNodeOptions } from './stuck-node.ts';

const address = '127.0.0.1';

/** A node that serves its API. */
function serverOptions(port: number): StuckNodeOptions {
  const pair = createCertificateAuthority('serving').issue();
  return { server: { certificate: () => pair, address, port } };
}

/** A client comes, with a token. */
async function ask({ node }: StuckNode): Promise<void> {
  const port = node.nodeObject.node?.status?.daemonEndpoints?.kubeletEndpoint?.Port;
  const headers = { authorization: 'Bearer of-a-client' };
  const asked = request({ host: address, port, path: '/pods', headers, rejectUnauthorized: false, agent: false }).end();
  const [answer] = await once(asked, 'response');
  answer.resume();
}

/** Ways in which a provider node serves its API badly. */
export const apiRows: readonly NodeRow[] = [
  {
    id: 'api-port-taken',
    title: "the port of the node's API is taken",
    about: 'node',
    kind: 'start',
    words: 'EADDRINUSE',
    log: { message: 'the provider node could not start' },
    retried: false,
    help: 'End what listens on this port, such as a kubelet, or set server.port; then start the program again.',
    instead: async () => {
      const other = createServer().listen(0, address);
      await once(other, 'listening');
      return { options: serverOptions((other.address() as AddressInfo).port), close: () => void other.close() };
    },
  },
  {
    id: 'forbidden-reviews',
    title: "no right to ask for reviews (403): requests to the node's API with a token are refused",
    about: 'node',
    kind: 'reviews',
    words: 'cannot create resource "tokenreviews"',
    log: { message: "nobody can say who sends a request to the node's API (TokenReview)" },
    help: 'Let the node create tokenreviews and subjectaccessreviews (deploy/rbac.yaml), or see why the apiserver does not answer: requests to its API are refused until then.',
    options: serverOptions(0),
    broken: (proxy) =>
      proxy.fail(
        /POST .*\/tokenreviews/,
        refusal(403, 'Forbidden', 'tokenreviews is forbidden: User "agent" cannot create resource "tokenreviews"'),
      ),
    arrange: ask,
  },
];
