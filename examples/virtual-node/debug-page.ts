import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDebugHandler } from 'pod-status-manager/debug';
import type { ProviderNode } from 'pod-status-manager/node';

/** The debug page of a node, served on the loopback address. */
export interface DebugPage {
  readonly url: string;
  close(): Promise<void>;
}

/** Undefined without a port. Rejects when the port is not free. */
export async function openDebugPage(node: ProviderNode, port: number | undefined): Promise<DebugPage | undefined> {
  if (port === undefined) return undefined;
  const handler = createDebugHandler({ manager: node.statusManager, node });
  const server = createServer(handler).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/`,
    async close() {
      handler.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
