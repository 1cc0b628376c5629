// One member of the fleet of `npm start -- --fleet`, in a process of its own: a NodeFleet whose pods run in the cloud of the process that
// has started it. SIGTERM ends it in peace; it ends at once when that process does.
import { createServer } from 'node:http';
import { type Logger, loadClientConfig } from 'pod-status-manager';
import { createDebugHandler } from 'pod-status-manager/debug';
import { NodeFleet } from 'pod-status-manager/fleet';
import { CloudLink } from './far-provider.ts';
import type { FromMember, MemberSettings, ToMember } from './messages.ts';

const stateEveryMs = 300;
const settings: MemberSettings = JSON.parse(process.argv[2] ?? '{}');

/** The parent may be gone: then there is nobody to tell. */
function send(message: FromMember): void {
  if (process.connected) process.send?.(JSON.stringify(message), undefined, undefined, () => {});
}

/** What goes wrong is for the run to show. */
function tell(fields: object, message: string): void {
  const { err, node } = { err: undefined, node: undefined, ...fields };
  send({ kind: 'warning', text: [settings.id, node, message, err].filter((part) => part !== undefined).join(': ') });
}
const logger: Logger = { debug() {}, info() {}, warn: tell, error: tell };

const link = new CloudLink(send);
process.on('message', (text) => {
  const message: ToMember = JSON.parse(String(text));
  link.take(message);
});

const kubeConfig = loadClientConfig({ file: settings.kubeconfig });
const { fleet: name, namespace, id, nodes, shards, leaseDurationMs, debugPort } = settings;
const fleet = new NodeFleet({
  ...{ kubeConfig, name, namespace, id, nodes, shards, leaseDurationMs, logger },
  provider: (nodeName) => link.provider(nodeName),
  nodeOptions: { rawPods: true },
});

function tellState(): void {
  const { isMember, shards: all, moving, nodeCounts, notes } = fleet.snapshot({ nodes: false });
  const own = all.filter(({ owner }) => owner === id).length;
  const { running, failed } = nodeCounts;
  send({ kind: 'state', state: { isMember, shards: own, moving, running, failed, notes } });
}

const states = setInterval(tellState, stateEveryMs);
const handler = debugPort === undefined ? undefined : createDebugHandler({ fleet, logger });
const server = handler && createServer(handler);
server?.listen(debugPort, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') send({ kind: 'page', url: `http://127.0.0.1:${address?.port}/` });
});

async function stop(): Promise<void> {
  await fleet.stop({ timeoutMs: 20_000 });
  clearInterval(states);
  handler?.close();
  server?.close();
  server?.closeAllConnections();
  if (process.connected) process.disconnect();
}

process.once('SIGTERM', () => void stop());
// Ctrl-C in a terminal is for the whole group of processes: the run says when a member ends
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit());
await fleet.start();
