import { describe, expect, it } from 'vitest';
import { ApiError, type Clock } from '../../../../src/index.ts';
import { LeaderElector } from '../../../../src/scheduler/cluster/leader-elector.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { LeaseServer } from './lease-server.ts';

function world() {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const told: string[] = [];
  const candidate = (identity: string, ownClock: Clock = clock, transport = server.transportOf(identity)) =>
    new LeaderElector({
      ...{ transport, identity, name: 'scheduler', clock: ownClock, random: () => 0, logger: null },
      onStarted: () => told.push(`${identity} leads`),
      onStopped: () => told.push(`${identity} stops`),
    });
  return { clock, server, told, candidate };
}

describe('a leader elector', () => {
  it('takes a Lease that does not exist, and renews it every two seconds', async () => {
    const { clock, server, told, candidate } = world();
    const elector = candidate('a');
    expect(elector.isLeader()).toBe(false);
    elector.start();
    await clock.advance(0);
    expect(told).toEqual(['a leads']);
    expect([elector.isLeader(), elector.holder]).toEqual([true, 'a']);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    await clock.advance(6000);
    expect(server.requests).toEqual(['a GET', 'a POST', 'a PUT', 'a PUT', 'a PUT']);
    expect(server.lease?.spec?.renewTime).toBe('2000-01-01T00:00:06.000000Z');
    expect(server.lease?.spec?.acquireTime).toBe('2000-01-01T00:00:00.000000Z');
    await elector.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives the Lease up when it stops, so that another takes it at its next try', async () => {
    const { clock, server, told, candidate } = world();
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    await clock.advance(100);
    b.start();
    await clock.advance(3000);
    expect([a.isLeader(), b.isLeader(), b.holder]).toEqual([true, false, 'a']);
    await a.stop();
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(2000);
    expect(told).toEqual(['a leads', 'a stops', 'b leads']);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    await b.stop();
  });

  it.each([
    'lost',
    'silent',
  ] as const)('leads no more ten seconds after its last renewal (requests %s), before another does', async (fate) => {
    const { clock, server, told, candidate } = world();
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    await clock.advance(0);
    b.start();
    await clock.advance(0);
    server.fate = (identity) => (identity === 'a' ? fate : 'answered');
    await clock.advance(9999);
    expect(a.isLeader()).toBe(true);
    await clock.advance(1);
    expect(a.isLeader()).toBe(false);
    expect(told).toEqual(['a leads', 'a stops']);
    // b has seen the Lease at 0 and tries every two seconds
    await clock.advance(4000);
    expect(b.isLeader()).toBe(false);
    await clock.advance(2000);
    expect(told).toEqual(['a leads', 'a stops', 'b leads']);
    await Promise.all([a.stop(), b.stop()]);
  });

  it('stops at once when it reads that another holds the Lease', async () => {
    const { clock, server, told, candidate } = world();
    const a = candidate('a');
    a.start();
    await clock.advance(0);
    server.lease = { ...server.lease, metadata: { ...server.lease?.metadata, resourceVersion: '99' } };
    server.lease.spec = { ...server.lease.spec, holderIdentity: 'intruder' };
    // the renewal is refused, the next try reads
    await clock.advance(4000);
    expect(told).toEqual(['a leads', 'a stops']);
    expect(a.holder).toBe('intruder');
    await a.stop();
    expect(server.lease.spec?.holderIdentity).toBe('intruder');
  });

  it('goes on after a renewal whose answer was lost', async () => {
    const { clock, server, told, candidate } = world();
    const a = candidate('a');
    a.start();
    await clock.advance(0);
    server.fate = (_, method) => (method === 'PUT' ? 'answerLost' : 'answered');
    await clock.advance(2000);
    server.fate = () => 'answered';
    await clock.advance(20_000);
    expect(told).toEqual(['a leads']);
    expect(server.lease?.spec?.leaseTransitions).toBe(0);
    await a.stop();
  });

  it('leads on when the wall clock is set back, and not before its next renewal where it shows that the machine slept', async () => {
    const { clock, told, candidate } = world();
    const a = candidate('a');
    a.start();
    await clock.advance(1000);
    clock.jump(-60_000);
    expect(a.isLeader()).toBe(true);
    await clock.advance(2000);
    clock.jump(60_000);
    expect(a.isLeader()).toBe(false);
    await clock.advance(2000);
    expect(a.isLeader()).toBe(true);
    expect(told).toEqual(['a leads']);
    await a.stop();
  });

  it('takes over from a dead one after its time, also where the own wall clock is set back meanwhile', async () => {
    const { clock, server, told, candidate } = world();
    const [a, b] = [candidate('a'), candidate('b')];
    a.start();
    await clock.advance(0);
    b.start();
    await clock.advance(5000);
    server.fate = (identity) => (identity === 'a' ? 'lost' : 'answered');
    clock.jump(-3_600_000);
    await clock.advance(20_000);
    expect(told).toEqual(['a leads', 'a stops', 'b leads']);
    await Promise.all([a.stop(), b.stop()]);
  });

  it('counts its term from the moment when the request was sent, also where timers come late', async () => {
    const { clock, server, candidate } = world();
    let lateMs = 0;
    // time passes, and no timer fires
    const late = { now: () => clock.now(), elapsed: () => clock.elapsed() + lateMs, setTimer: clock.setTimer.bind(clock) };
    const transport = server.transportOf('a');
    const slow: typeof transport = {
      ...transport,
      request: async (request) => {
        if (request.method === 'POST') await new Promise<void>((resolve) => clock.setTimer(resolve, 4000));
        return transport.request(request);
      },
    };
    const a = candidate('a', late, slow);
    a.start();
    await clock.advance(4000);
    expect(a.isLeader()).toBe(true);
    lateMs = 5999;
    expect(a.isLeader()).toBe(true);
    lateMs = 6000;
    expect(a.isLeader()).toBe(false);
    await a.stop();
  });

  it('says at once, and every five minutes, that it has no right to the Lease', async () => {
    const { clock, server } = world();
    const logged: object[] = [];
    const nothing = (): void => {};
    const transport = {
      ...server.transportOf('a'),
      request: () => Promise.reject(new ApiError({ status: 403, reason: 'Forbidden', message: 'no right' })),
    };
    const error = (fields: object): void => void logged.push(fields);
    const elector = new LeaderElector({
      ...{ transport, identity: 'a', name: 'mine', namespace: 'd', clock, random: () => 0 },
      logger: { debug: nothing, info: nothing, warn: nothing, error },
    });
    expect(elector.lastFailure()).toBeUndefined();
    elector.start();
    await clock.advance(0);
    expect(logged).toMatchObject([
      {
        ...{ namespace: 'd', name: 'mine', identity: 'a', err: { status: 403 }, errorClass: 'forbidden' },
        ...{ attempt: 1, failingForMs: 0, retryInMs: 2000, help: expect.stringContaining('scheduler-rbac.yaml') },
      },
    ]);
    const begun = clock.now();
    expect(elector.problem()).toMatchObject({
      ...{ kind: 'forbidden', message: 'the Lease d/mine can be neither taken nor renewed: no right' },
      ...{ since: begun, attempt: 1, retryAt: begun + 2000 },
    });
    expect(elector.lastFailure()).toMatchObject({ errorClass: 'forbidden', message: 'no right', retryAt: clock.now() + 2000 });
    await clock.advance(299_000);
    expect(logged).toHaveLength(1);
    await clock.advance(2000);
    expect(logged).toHaveLength(2);
    expect(logged[1]).toMatchObject({ attempt: 151, failingForMs: 300_000 });
    expect(elector.problem()).toMatchObject({ since: begun, attempt: 151 });
    await elector.stop();
  });

  it('says that the Lease cannot be had once that has lasted as long as a leader may go on', async () => {
    const { clock, server } = world();
    const logged: object[] = [];
    const nothing = (): void => {};
    const error = (fields: object): void => void logged.push(fields);
    const again: object[] = [];
    const info = (fields: object, message: string): void => void (message.endsWith('again') && again.push(fields));
    const elector = new LeaderElector({
      ...{ transport: server.transportOf('a'), identity: 'a', name: 'mine', clock, random: () => 0 },
      logger: { debug: nothing, info, warn: nothing, error },
    });
    server.fate = () => 'lost';
    elector.start();
    await clock.advance(9000);
    expect(logged).toEqual([]);
    await clock.advance(1000);
    expect(logged).toHaveLength(1);
    server.fate = () => 'answered';
    await clock.advance(2000);
    expect([elector.isLeader(), elector.lastFailure(), elector.problem()]).toEqual([true, undefined, undefined]);
    const told = [{ namespace: 'kube-system', name: 'mine', identity: 'a', attempt: 6, failingForMs: 12_000 }];
    expect(again).toMatchObject(told);
    await clock.advance(60_000);
    server.fate = () => 'lost';
    await clock.advance(2500);
    server.fate = () => 'answered';
    await clock.advance(60_000);
    // a short failure is no news, and so is its end
    expect(again).toMatchObject(told);
    await elector.stop();
  });

  it('logs what a callback throws, and goes on', async () => {
    const { clock, server } = world();
    const errors: unknown[] = [];
    const nothing = (): void => {};
    const elector = new LeaderElector({
      ...{ transport: server.transportOf('a'), identity: 'a', name: 'scheduler', clock },
      logger: { debug: nothing, info: nothing, warn: nothing, error: (fields) => errors.push(fields) },
      onStarted: () => {
        throw new Error('broken');
      },
    });
    elector.start();
    await clock.advance(0);
    expect(elector.isLeader()).toBe(true);
    expect(errors).toMatchObject([{ err: { message: 'broken' } }]);
    await elector.stop();
  });

  it('stops although its transport never settles', async () => {
    const { clock } = world();
    const never = { request: () => new Promise<never>(() => {}), stream: () => Promise.reject(new Error('no streams')) };
    const elector = new LeaderElector({ transport: never, identity: 'a', name: 's', clock, logger: null });
    elector.start();
    await clock.advance(0);
    const stopped = elector.stop();
    await clock.advance(1000);
    await stopped;
    expect(elector.isLeader()).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [{ identity: '' }, 'Expected `identity` to be a non-empty string'],
    [{ name: 'a/b' }, 'Expected `name` to be a name of one path segment'],
    [{ leaseDurationMs: 1500 }, 'Expected `leaseDurationMs` to be whole seconds'],
    [{ renewDeadlineMs: 15_000 }, 'Expected `renewDeadlineMs` to be more than 0 and less than `leaseDurationMs`'],
    [{ retryPeriodMs: 9000 }, 'Expected `retryPeriodMs` to be more than 0'],
    [{ leaseDuration: 1 }, 'Expected `options.leaseDuration` to be absent'],
  ])('refuses %j', (wrong, message) => {
    const options = { transport: new LeaseServer().transportOf('a'), identity: 'a', name: 'scheduler', ...wrong };
    expect(() => new LeaderElector(options as never)).toThrow(message);
  });
});
