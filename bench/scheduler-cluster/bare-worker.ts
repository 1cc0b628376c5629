// Posts bindings for the pods that have no node, to one node after another, until SIGTERM: bare-worker.ts SERVER TOKEN CA
// Nothing is decided and no event is written: no scheduler of so many connections can be faster on this server.
import { createInterface } from 'node:readline';
import { Pool } from 'undici';

interface Seen {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string };
  readonly spec?: { readonly nodeName?: string };
}

interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Seen[];
}

const [server = '', token, ca] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}`, 'user-agent': 'bare-scheduler', 'content-type': 'application/json' };
const mostAtOnce = 32;
const pool = new Pool(server, { connections: mostAtOnce, connect: { ca: ca ?? '' } });
const streams = new Pool(server, { connect: { ca: ca ?? '' }, bodyTimeout: 0 });
const waiting: Seen[] = [];
let underWay = 0;
let bound = 0;

process.once('SIGTERM', () => process.exit());
const { items: nodes } = await list('/api/v1/nodes');
const { items: pods, metadata } = await list('/api/v1/pods?fieldSelector=spec.nodeName%3D');
for (const pod of pods) add(pod);
for (let from = metadata.resourceVersion; ; ) from = await watch(from);

async function list(path: string): Promise<List> {
  const { body } = await pool.request({ method: 'GET', path, headers });
  return (await body.json()) as List;
}

/** Resolves to the last version that was told, when the server ends the watch. */
async function watch(from: string): Promise<string> {
  let last = from;
  const path = `/api/v1/pods?watch=true&resourceVersion=${last}`;
  const { body } = await streams.request({ method: 'GET', path, headers });
  for await (const line of createInterface({ input: body })) {
    const { type, object } = JSON.parse(line) as { type: string; object: Seen };
    last = object.metadata.resourceVersion;
    if (type === 'ADDED' && !object.spec?.nodeName) add(object);
  }
  return last;
}

function add(pod: Seen): void {
  waiting.push(pod);
  if (underWay < mostAtOnce) void work();
}

async function work(): Promise<void> {
  underWay += 1;
  for (let pod = waiting.shift(); pod !== undefined; pod = waiting.shift()) {
    const { name, namespace } = pod.metadata;
    const target = { kind: 'Node', name: nodes[bound++ % nodes.length]?.metadata.name };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target });
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
    const answer = await pool.request({ method: 'POST', path, headers, body });
    await answer.body.dump();
  }
  underWay -= 1;
}
