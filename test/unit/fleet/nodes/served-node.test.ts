import { describe, expect, it } from 'vitest';
import { ServedNode } from '../../../../src/fleet/nodes/served-node.ts';
import { FakeAgents } from './fake-agents.ts';

function world(startsAtOnce?: number) {
  const agents = new FakeAgents();
  const options = agents.options(startsAtOnce);
  const serve = (name = 'n1'): ServedNode => new ServedNode(options, { name }, agents.term(3));
  return { agents, clock: agents.clock, options, serve };
}

describe('a served node', () => {
  it('starts, runs and stops in peace, within the time of a hand-over', async () => {
    const { agents, clock, serve } = world();
    const served = serve();
    expect([served.state, served.agent, served.shard]).toEqual(['starting', undefined, 3]);
    await served.start();
    expect([served.state, served.failure, agents.took()]).toEqual(['running', undefined, ['start n1']]);
    const stopped = served.stop(true);
    expect(served.state).toBe('stopping');
    await stopped;
    expect([agents.took(), served.agent]).toEqual([['stop n1'], undefined]);
    expect(agents.limits).toEqual([{ timeoutMs: 8000, drainTimeoutMs: 4000, callsTimeoutMs: 2000 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends soon where its shard is lost, with nothing to write, and the first call says how', async () => {
    const { agents, serve } = world();
    const served = serve();
    await served.start();
    await Promise.all([served.stop(false), served.stop(true)]);
    expect(agents.limits).toEqual([{ timeoutMs: 2000, drainTimeoutMs: 0, callsTimeoutMs: 1000 }]);
  });

  it.each([
    'make',
    'start',
  ] as const)('whose %s fails is tried again, ever later, with another agent, and says why', async (what) => {
    const { agents, clock, serve } = world();
    const error = new Error('no certificate');
    let left = 3;
    const fail = (): void => {
      left -= 1;
      if (left >= 0) throw error;
    };
    if (what === 'make') agents.makes = fail;
    else agents.starts = async () => fail();
    const served = serve();
    const since = clock.now();
    void served.start();
    await clock.advance(0);
    expect([served.state, served.failure]).toEqual(['failed', { error, since, attempt: 1, retryAt: since + 1000 }]);
    await clock.advance(1000);
    expect(served.failure).toEqual({ error, since, attempt: 2, retryAt: since + 3000 });
    await clock.advance(2000);
    expect([served.state, served.failure?.attempt]).toEqual(['failed', 3]);
    await clock.advance(4000);
    expect([served.state, served.failure, agents.mostOfOneName]).toEqual(['running', undefined, 1]);
    const told = agents.lines.saying('a node of the fleet could not be started').map(({ fields }) => fields);
    const problemKind = 'fleet-node-start';
    const help = 'See what the message names: the options of the node, or the function that makes its provider.';
    const ofAll = { err: error, node: 'n1', problemKind, help };
    expect(told).toEqual([
      { ...ofAll, attempt: 1, failingForMs: 0, retryInMs: 1000 },
      { ...ofAll, attempt: 2, failingForMs: 1000, retryInMs: 2000 },
      { ...ofAll, attempt: 3, failingForMs: 3000, retryInMs: 4000 },
    ]);
    expect(agents.lines.saying('the node of the fleet has started').length).toBe(1);
    await served.stop(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets others start while it takes long, and runs once it has started', async () => {
    const { agents, clock, serve } = world(1);
    agents.starts = (name) => (name === 'slow' ? agents.after(10_000) : Promise.resolve());
    const [slow, other] = [serve('slow'), serve('other')];
    void slow.start();
    void other.start();
    await clock.advance(1999);
    expect([slow.state, other.state, agents.told]).toEqual(['starting', 'starting', ['start slow']]);
    await clock.advance(1);
    expect([slow.state, other.state]).toEqual(['starting', 'running']);
    await clock.advance(8000);
    expect(slow.state).toBe('running');
  });

  it('that fails after it has let others start is tried again, too', async () => {
    const { agents, clock, serve } = world();
    let isFirst = true;
    agents.starts = async () => {
      if (!isFirst) return;
      isFirst = false;
      await agents.after(5000);
      throw new Error('the port is taken');
    };
    const served = serve();
    await Promise.all([served.start(), clock.advance(5000)]);
    expect([served.state, served.failure?.attempt, agents.took()]).toEqual(['failed', 1, ['start n1', 'stop n1']]);
    await clock.advance(1000);
    expect([served.state, served.failure, agents.took()]).toEqual(['running', undefined, ['start n1']]);
    await served.stop(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([0, 3000])('stops %i ms after the beginning of a start that never ends', async (afterMs) => {
    const { agents, clock, serve } = world();
    agents.starts = () => new Promise(() => {});
    const served = serve();
    void served.start();
    await clock.advance(afterMs);
    await Promise.all([served.stop(true), clock.advance(0)]);
    expect([agents.took(), served.state, clock.pendingTimers]).toEqual([['start n1', 'stop n1'], 'stopping', 0]);
  });

  it('stops while it waits for its turn, and between two tries, and starts nothing afterwards', async () => {
    const { agents, clock, serve } = world(1);
    agents.starts = (name) => (name === 'n1' ? Promise.reject(new Error('no')) : agents.after(1900));
    const [other, waiting, failing] = [serve('other'), serve('waiting'), serve('n1')];
    void other.start();
    void waiting.start();
    await clock.advance(0);
    await Promise.all([waiting.stop(true), clock.advance(0)]);
    await clock.advance(1900);
    void failing.start();
    await clock.advance(500);
    expect(failing.state).toBe('failed');
    await Promise.all([failing.stop(true), clock.advance(0)]);
    await clock.advance(60_000);
    expect([agents.took(), clock.pendingTimers]).toEqual([['start other', 'start n1', 'stop n1'], 0]);
  });

  it.each([
    0, 1, 2, 3, 4, 5,
  ])('starts nothing that its stop does not end, %i turns after its place to start came free', async (turns) => {
    const { agents, options, serve } = world(1);
    const held = Promise.withResolvers<void>();
    const holding = options.startTurns.run(() => held.promise, new AbortController().signal);
    const served = serve();
    void served.start();
    held.resolve();
    for (let turn = 0; turn < turns; turn += 1) await null;
    await Promise.all([holding, served.stop(true)]);
    expect([agents.running('n1'), served.agent]).toEqual([0, undefined]);
  });

  it('makes no agent where what gives the places calls it after its end', async () => {
    const { agents, serve, options } = world(1);
    options.startTurns.run = (call) => call();
    const served = serve();
    await served.stop(true);
    await served.start();
    expect(agents.took()).toEqual([]);
  });

  it('has ended also where the end of its agent failed, and says so', async () => {
    const { agents, serve } = world();
    agents.stops = () => Promise.reject(new Error('broken'));
    const served = serve();
    await served.start();
    await served.stop(true);
    expect([served.agent, agents.lines.of('error')]).toEqual([undefined, ['a node of the fleet has not ended in good order']]);
  });
});
