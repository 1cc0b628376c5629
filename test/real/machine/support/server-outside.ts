// An apiserver in memory that is reached at 10.0.2.1: node server-outside.ts. It says `up` once it listens.
import { connect, createServer } from 'node:net';
import { InMemoryApiServer } from '../../../../src/testing.ts';

const server = await InMemoryApiServer.start();
const { port } = new URL(server.kubeConfig().getCurrentCluster()?.server ?? '');
createServer((client) => {
  const there = connect(Number(port), '127.0.0.1');
  client.pipe(there).pipe(client);
  for (const socket of [client, there]) socket.on('error', () => socket.destroy());
}).listen(8080, '10.0.2.1', () => console.log('up'));
