import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LifecycleHooks } from '../../../../src/kubelet/pods/lifecycle-hooks.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { container, podOf } from './syncer-world.ts';

const never = new AbortController().signal;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const hooks = new LifecycleHooks({
  runtime: { execSync: () => Promise.reject(new Error('no commands')) },
  clock: new FakeClock(),
});
const run = (httpGet: object, podIP = '127.0.0.1', signal = never) => {
  const handler = { httpGet: { port: 0, ...httpGet } };
  const ports = [{ name: 'admin', containerPort: 0 }];
  const app = container('app', { ports });
  return hooks.run({ pod: podOf({ containers: [app] }), container: app, containerID: '1', handler, podIP }, signal);
};

describe('a hook that makes a request', () => {
  it('reaches the pod, with its headers, and takes any answer', async () => {
    const requests: IncomingMessage[] = [];
    const port = await portOf(
      createServer((request, response) => {
        requests.push(request);
        response.writeHead(500).end();
      }),
    );
    await run({ port, path: '/started?by=agent', httpHeaders: [{ name: 'X-Token', value: '1' }] });
    const [request] = requests;
    expect(request?.url).toBe('/started?by=agent');
    expect(request?.headers).toMatchObject({ 'x-token': '1', 'user-agent': 'kube-lifecycle/1.36' });
  });

  it('fails where nobody listens, and without an address', async () => {
    const port = await portOf(createServer());
    servers.pop()?.close();
    await expect(run({ port, path: '/x' })).rejects.toThrow(
      /^HTTP lifecycle hook \(\/x\) for Container "app" in Pod "web_default\(web\)" failed - error: .*ECONNREFUSED/,
    );
    await expect(run({ port, path: '/x' })).rejects.toMatchObject({ brief: 'the request failed with ECONNREFUSED' });
    await expect(run({ port, path: '/x' }, '')).rejects.toThrow('the pod has no IP address');
  });

  it('over TLS asks a server without it again, without credentials', async () => {
    const requests: IncomingMessage[] = [];
    const port = await portOf(
      createServer((request, response) => {
        requests.push(request);
        response.end();
      }),
    );
    const httpHeaders = [{ name: 'Authorization', value: 'Bearer secret' }];
    await run({ port, scheme: 'HTTPS', httpHeaders });
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    const port = await portOf(createServer(() => controller.abort(new Error('time is up'))));
    await expect(run({ port }, '127.0.0.1', controller.signal)).rejects.toThrow('time is up');
  });
});

describe('a hook that is none', () => {
  it('fails', async () => {
    const app = container('app');
    const request = { pod: podOf({}), container: app, containerID: '1', handler: {}, podIP: undefined };
    await expect(hooks.run(request, never)).rejects.toThrow('Cannot run handler');
  });
});

describe('a hook that runs a command', () => {
  it('says what the command said, and no more of it than a status can hold', async () => {
    const said = (text: string) => Buffer.from(text.repeat(2 ** 20));
    const result = { exitCode: 7, stdout: said('o'), stderr: said('e') };
    const loud = new LifecycleHooks({ runtime: { execSync: async () => result }, clock: new FakeClock() });
    const app = container('app');
    const handler = { exec: { command: ['sh'] } };
    const request = { pod: podOf({ containers: [app] }), container: app, containerID: '1', handler, podIP: undefined };
    const error = await loud.run(request, never).catch((reason: unknown) => reason);
    const { message } = error as Error;
    expect(message).toMatch(/^Exec lifecycle hook \(\[sh\]\) .* command 'sh' exited with 7: e+, message: "o+e+"$/);
    expect(message.length).toBeLessThan(16_384);
  });
});
