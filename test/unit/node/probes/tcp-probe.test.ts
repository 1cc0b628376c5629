import { describe, expect, it } from 'vitest';
import { NetworkProber } from '../../../../src/node/probes/network-prober.ts';
import { until } from '../../../support/until.ts';
import { closedPort, noSignal, rawServer, TimeLimit, tcpTarget } from './targets.ts';

const prober = new NetworkProber();

describe('a tcp probe', () => {
  it('is a success when the port takes a connection, which is closed at once', async () => {
    await using server = await rawServer(() => {});
    expect(await prober.tcp(tcpTarget(server.port), noSignal)).toEqual({ result: 'success' });
    await until(() => server.sockets.length > 0);
    await server.closed();
    expect(server.sockets).toHaveLength(1);
  });

  it('says why there is no connection', async () => {
    const port = await closedPort();
    expect(await prober.tcp(tcpTarget(port), noSignal)).toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it('fails when its time is over', async () => {
    const limit = new TimeLimit();
    limit.end();
    await using server = await rawServer(() => {});
    expect(await prober.tcp(tcpTarget(server.port), limit.signal)).toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${server.port}: i/o timeout`,
    });
  });

  it('fails for what is no host', async () => {
    const outcome = await prober.tcp(tcpTarget(80, 'no such host.invalid'), noSignal);
    expect(outcome.result).toBe('failure');
    expect(outcome.output).toMatch(/^dial tcp: lookup no such host\.invalid: /);
  });
});
