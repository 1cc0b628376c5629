import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { behindAddress, nodeAddress, nodePort } from './world.ts';

/**
 * A server at another address, at the port of nodes, that answers as the node does at its `port`, but with what `change` makes of the text. It passes requests on as
 * they are, with no certificate: so a kube-apiserver asks a pod.
 */
export async function relayTo(change: (answer: string) => string, port = nodePort): Promise<AsyncDisposable> {
  const { serving } = inject('virtualKubeletWorld');
  const [cert, key] = await Promise.all([readFile(serving.cert), readFile(serving.key)]);
  const server = createServer({ cert, key }, async (incoming, answer) => {
    const { method = 'GET', url: path = '/' } = incoming;
    const passed = request({ host: nodeAddress, port, method, path, rejectUnauthorized: false }).end();
    try {
      const [response]: IncomingMessage[] = await once(passed, 'response');
      if (response === undefined) throw new Error('the node gave no answer');
      const { statusCode = 502, headers } = response;
      answer.writeHead(statusCode, { 'content-type': headers['content-type'] ?? 'text/plain' });
      answer.end(change(await text(response)));
    } catch (error) {
      answer.writeHead(502).end(String(error));
    }
  });
  server.listen(nodePort, behindAddress);
  await once(server, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A text of metrics with the labels of each sample in another order. No value of a label may have a comma or a brace in it. */
export function withLabelOrder(metrics: string, order: (labels: readonly string[]) => readonly string[]): string {
  return metrics.replaceAll(/^(\w+)\{([^}]*)\}/gm, (_, name, labels) => `${name}{${order(labels.split(',')).join(',')}}`);
}
