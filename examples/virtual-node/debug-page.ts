import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createDebugHandler, type DebugNodeSource } from 'pod-status-manager/debug';
import type { DemoNode } from './run.ts';

/** The debug pages of the nodes of a run, served on the loopback address. */
export interface DebugPage {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Undefined without a port. One node has its page at the root; of several each has one below its name, and the root lists them.
 * `wrong` is what is wrong on purpose: the page shows it before what the node says of itself. Rejects when the port is not free.
 */
export async function openDebugPage(
  nodes: readonly DemoNode[],
  port: number | undefined,
  wrong: () => readonly string[],
): Promise<DebugPage | undefined> {
  if (port === undefined) return undefined;
  const isOne = nodes.length === 1;
  const names = nodes.map((node) => node.snapshot({ pods: false }).nodeName);
  const handlers = nodes.map((node, index) => {
    const options = { manager: node.statusManager, node: sourceOf(node, wrong), logger: null };
    return createDebugHandler(isOne ? options : { ...options, basePath: `/${names[index]}` });
  });
  const listener: RequestListener = (request, response) => {
    const [, name] = (request.url ?? '').split(/[/?]/);
    const handler = handlers[isOne ? 0 : names.indexOf(name ?? '')];
    if (handler !== undefined) handler(request, response);
    else
      response
        .setHeader('content-type', 'text/html')
        .end(names.map((each) => `<p><a href="/${each}/">${each}</a></p>`).join('\n'));
  };
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/`,
    async close() {
      for (const handler of handlers) handler.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function sourceOf(node: DemoNode, wrong: () => readonly string[]): DebugNodeSource {
  return {
    snapshot: (options) => {
      const told = node.snapshot(options);
      const onPurpose = wrong().map((text) => ({ kind: 'wrong-on-purpose', message: `wrong on purpose: ${text}`, attempt: 0 }));
      return { ...told, problems: [...onPurpose, ...(told.problems ?? [])] };
    },
    explain: (podUID) => ({ ...node.explain?.(podUID) }),
  };
}
