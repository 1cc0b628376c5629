import { describe, expect, it } from 'vitest';
import { LeaderElector } from '../../../../src/scheduler/leader/leader-elector.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { LeaseServer } from './lease-server.ts';

function world() {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const told: string[] = [];
  const candidate = (identity: string, ownClock = clock) =>
    new LeaderElector({
      ...{ transport: server.transportOf(identity), identity, name: 'scheduler', clock: ownClock, random: () => 0, logger: null },
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

  it('is no leader while its clock shows a time before its last renewal', async () => {
    const { clock, candidate } = world();
    const a = candidate('a');
    a.start();
    await clock.advance(0);
    clock.jump(-60_000);
    expect(a.isLeader()).toBe(false);
    await clock.advance(2000);
    expect(a.isLeader()).toBe(true);
    await a.stop();
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
