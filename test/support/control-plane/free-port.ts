import { createServer } from 'node:net';

function listenOnFreePort(): Promise<{ port: number; close: () => void }> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') return reject(new Error('No port in the address of a TCP server'));
      resolve({ port: address.port, close: () => server.close() });
    });
  });
}

/** `count` different loopback ports that were free a moment ago; the one who uses them must still expect a rival. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenOnFreePort));
  for (const server of servers) server.close();
  return servers.map((server) => server.port);
}
