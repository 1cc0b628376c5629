import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { HealthzServer } from '../../../../src/node/server/healthz-server.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';

function setUp(port = 0) {
  const clock = new FakeClock();
  const health = { error: undefined as Error | undefined };
  const check = (): void => {
    if (health.error !== undefined) throw health.error;
  };
  const healthChecks = () => [{ name: 'syncloop', check }];
  const errors: object[] = [];
  const logger = { ...silentLogger, error: (fields: object) => void errors.push(fields) };
  const server = new HealthzServer({ port, address: '127.0.0.1', healthChecks, clock, logger });
  onTestFinished(() => server.stop());
  return { clock, health, server, errors };
}

async function served(server: HealthzServer): Promise<string> {
  server.start();
  await until(() => server.port !== undefined);
  return `http://127.0.0.1:${server.port}`;
}

it('says whether the agent is well, as Kubernetes does, and shows nothing else', async () => {
  const { server, health } = setUp();
  const base = await served(server);
  const asked = async (path: string, method = 'GET') => {
    const answer = await fetch(`${base}${path}`, { method });
    return [answer.status, await answer.text()];
  };
  expect(await asked('/healthz')).toEqual([200, 'ok']);
  expect(await asked('/healthz/syncloop')).toEqual([200, 'ok']);
  health.error = new Error('the loop hangs');
  expect(await asked('/healthz')).toEqual([500, '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n']);
  expect(await asked('/healthz?exclude=syncloop')).toEqual([200, 'ok']);
  expect(await asked('/healthz/ping')).toEqual([200, 'ok']);
  expect(await asked('/healthz/none')).toEqual([404, '404: Page Not Found']);
  expect(await asked('/healthz/a/b')).toEqual([404, '404: Page Not Found']);
  expect(await asked('/pods')).toEqual([404, '404: Page Not Found']);
  expect(await asked('/healthz', 'POST')).toEqual([405, '405: Method Not Allowed']);
  expect(await asked('/healthz', 'HEAD')).toEqual([500, '']);
});

it('tries a port that is taken again every five seconds, and says so', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { server, clock, errors } = setUp(port);
  server.start();
  await until(() => errors.length === 1);
  expect(errors[0]).toMatchObject({ problemKind: 'healthz', attempt: 1, help: expect.stringContaining('healthzPort') });
  expect(server.failing?.message).toContain('EADDRINUSE');
  await clock.advance(5000);
  await until(() => errors.length === 2);
  other.close();
  await once(other, 'close');
  await clock.advance(5000);
  await until(() => server.port === port);
  expect(server.failing).toBeUndefined();
  expect(errors).toHaveLength(2);
});

it('leaves no connection and no port when it stops, whatever a client waits for', async () => {
  const { server } = setUp();
  await served(server);
  const port = server.port ?? 0;
  const client = connect({ port, host: '127.0.0.1' });
  client.write('GET /healthz HTTP/1.1\r\nHost: a\r\n');
  client.on('error', () => {});
  await once(client, 'connect');
  await server.stop();
  await until(() => client.destroyed);
  const again = createServer();
  again.listen(port, '127.0.0.1');
  await once(again, 'listening');
  again.close();
  expect(server.port).toBeUndefined();
});
