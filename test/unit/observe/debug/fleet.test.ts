import { describe, expect, it } from 'vitest';
import type { DebugFleet, DebugFleetNode } from '../../../../src/observe/debug/debug-fleet-api.ts';
import { createDebugHandler } from '../../../../src/observe/debug/debug-handler.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { SampleFleet } from '../../../real/browser/debug-page/sample-fleet.ts';
import { browser, DebugHarness } from './debug-harness.ts';

const boom = (): never => {
  throw new Error('boom');
};
const problem = { kind: 'start-node', message: 'the node cannot start: quota exceeded', attempt: 2, help: 'Raise it.' };

async function start(
  fleet: { snapshot: (options: never) => unknown; explain: (name: string) => unknown },
  clock = new FakeClock(),
) {
  const debug = await DebugHarness.start({ manager: undefined, fleet: fleet as SampleFleet, clock });
  const ask = async (query = ''): Promise<DebugFleet> => JSON.parse((await debug.ask(`/api/fleet${query}`)).body);
  return { debug, ask, clock, [Symbol.asyncDispose]: () => debug.stop() };
}

describe('what the handler shows of a fleet', () => {
  it('is its members with shards and nodes, and what is wrong', async () => {
    const sample = new SampleFleet({ members: 3, shards: 6, nodes: 13 });
    sample.kill(2);
    sample.problems = [problem];
    sample.unownedShards.add(5);
    await using at = await start(sample);
    const fleet = await at.ask();
    expect(fleet).toMatchObject({
      name: 'edge',
      id: 'member-0',
      state: 'running',
      isMember: true,
      members: 2,
      shards: 6,
      unowned: 1,
      moving: 0,
      known: 13,
      matching: 13,
      from: 0,
      byState: { running: 7, elsewhere: 4, unowned: 2 },
      problemCount: 1,
      problems: [problem],
    });
    expect(fleet.allMembers).toMatchObject([
      { id: 'member-0', isSelf: true, isAlive: true, shards: 3, nodes: 7, agent: 'process member-0 on host-1' },
      { id: 'member-1', isSelf: false, isAlive: true, shards: 2, nodes: 4 },
      { id: 'member-2', isAlive: false, shards: 0, nodes: 0 },
    ]);
    expect((await at.debug.snapshot()).summary).toMatchObject({
      state: 'none',
      fleet: { name: 'edge', state: 'running', members: 2, problemCount: 1 },
      notes: [{ of: 'fleet', ...problem, pods: 0 }],
      ownProblems: { fleet: 1 },
    });
  });

  it('counts no shard as unowned of which the member does not hear who owns it', async () => {
    const shards = ['unknown', 'free', 'acquiring', 'elsewhere'].map((state, shard) => ({
      shard,
      state,
      owner: state === 'elsewhere' ? 'b' : undefined,
      nodes: 1,
    }));
    await using at = await start({ snapshot: () => ({ name: 'edge', id: 'a', state: 'running', shards }), explain: () => ({}) });
    expect(await at.ask()).toMatchObject({ shards: 4, unowned: 2, moving: 1 });
  });

  it('has first the nodes that failed, then those without an owner, then those that move, each with its reason', async () => {
    const sample = new SampleFleet({ members: 2, shards: 8, nodes: 40 });
    sample.unownedShards.add(7);
    sample.movingShards.add(3);
    sample.nodes.set('node-00020', { state: 'failed', problem });
    sample.nodes.set('node-00030', { state: 'stopping', why: 'its pods are being told' });
    await using at = await start(sample);
    const { nodes } = await at.ask('?count=12');
    expect(nodes.map(({ nodeName, state, isMoving }) => [nodeName, state, isMoving])).toEqual([
      ['node-00020', 'failed', false],
      ...[7, 15, 23, 31, 39].map((index) => [`node-000${String(index).padStart(2, '0')}`, 'unowned', false]),
      ['node-00003', 'elsewhere', true],
      ['node-00011', 'elsewhere', true],
      ['node-00019', 'elsewhere', true],
      ['node-00027', 'elsewhere', true],
      ['node-00030', 'stopping', true],
      ['node-00035', 'elsewhere', true],
    ]);
    expect(nodes[0]?.problem).toEqual(problem);
    expect([nodes[6]?.why, nodes[10]?.why]).toEqual(['member-1 owns its shard', 'its pods are being told']);
  });

  it.each<[query: string, names: string[], matching: number]>([
    ['?filter=node-0001&count=2&from=1', ['node-00011', 'node-00012'], 10],
    ['?filter=member-1+-0003', ['node-00031', 'node-00033', 'node-00035', 'node-00037', 'node-00039'], 5],
    ['?filter=shard-5&sort=-name&count=1', ['node-00037'], 5],
    ['?trouble', ['node-00004'], 1],
    ['?state=failed&state=stopping', ['node-00004'], 1],
    ['?sort=shard&count=3', ['node-00000', 'node-00008', 'node-00016'], 40],
    ['?sort=-owner&count=1', ['node-00001'], 40],
    ['?from=99&count=nonsense', [], 40],
  ])('is narrowed, ordered and paged: %s', async (query, names, matching) => {
    const sample = new SampleFleet({ members: 2, shards: 8, nodes: 40 });
    sample.nodes.set('node-00004', { state: 'failed' });
    await using at = await start(sample);
    const fleet = await at.ask(query);
    expect([fleet.nodes.map(({ nodeName }) => nodeName), fleet.matching]).toEqual([names, matching]);
  });

  it('is at most 500 nodes at once, and no answer to a filter of 21 words', async () => {
    await using at = await start(new SampleFleet({ nodes: 2_000 }));
    expect((await at.ask()).nodes).toHaveLength(100);
    expect((await at.ask('?count=2000')).nodes).toHaveLength(500);
    const words = Array.from({ length: 21 }, (_, index) => `w${index}`).join('+');
    expect(await at.debug.ask(`/api/fleet?filter=${words}`)).toMatchObject({ status: 400 });
  });

  it('is one node, with what it says of itself where it runs here', async () => {
    const sample = new SampleFleet({ nodes: 8 });
    sample.nodes.set('node-00001', { why: 'a reason', problem });
    await using at = await start(sample);
    const node = async (name: string): Promise<DebugFleetNode> =>
      JSON.parse((await at.debug.ask(`/api/fleet/nodes/${name}`)).body);
    expect((await node('node-00001')).row).toMatchObject({
      shard: 1,
      owner: 'member-1',
      state: 'elsewhere',
      why: 'a reason',
      problem,
    });
    expect((await node('node-00000')).lines).toContainEqual(['ready', 'true']);
    expect(await at.debug.ask('/api/fleet/nodes/other')).toMatchObject({ status: 404 });
    expect(await at.debug.ask('/fleet/nodes/node-00001', { headers: browser })).toMatchObject({
      status: 302,
      headers: { location: '../../#node=node-00001' },
    });
  });

  it('is text for who asks for text', async () => {
    const sample = new SampleFleet({ members: 2, shards: 4, nodes: 5 });
    sample.nodes.set('node-00002', { state: 'failed', problem });
    sample.kill(1);
    await using at = await start(sample);
    const { body } = await at.debug.ask('/fleet?filter=node');
    expect(body).toMatch(/^fleet {4}edge running\ntrouble {2}none\nmembers {2}1 alive; this is member-0\n/);
    expect(body).toContain('nodes    5 in all, running 4, failed 1\n');
    expect(body).toMatch(/MEMBER +STATE +SHARDS +NODES +RENEWED +AGENT\nmember-0 \(this one\) +alive +4 +5 /);
    expect(body).toMatch(/member-1 +gone +0 +0 /);
    expect(body).toMatch(
      /NODE +SHARD +OWNER +STATE +SINCE +WHY\nnode-00002 +2 +member-0 +failed .* ! the node cannot start: quota exceeded/,
    );
    expect((await at.debug.ask('/fleet?filter=0003')).body).toContain('shown    1 to 1 of 1 node that pass\n');
    expect((await at.debug.ask('/fleet/nodes/node-00002')).body).toMatch(/^node {5}node-00002 failed\ntrouble {2}! the node/);
    expect((await at.debug.ask('/')).body).toContain('fleet      edge running, 1 member alive\n');
    expect(await at.debug.ask('/fleet', { headers: browser })).toMatchObject({ headers: { location: './#panel=fleet' } });
  });
});

it('the fleet is asked at most once a second for the head of the page, however often that is read', async () => {
  const asked: boolean[] = [];
  const sample = new SampleFleet();
  const snapshot = (options: { readonly nodes: boolean }): object => {
    asked.push(options.nodes);
    return sample.snapshot(options);
  };
  await using at = await start({ snapshot, explain: (name) => sample.explain(name) });
  for (let i = 0; i < 5; i += 1) await at.debug.snapshot();
  expect(asked).toEqual([false]);
  await at.clock.advance(1_000);
  await at.debug.snapshot();
  await at.ask();
  expect(asked).toEqual([false, false, true]);
});

describe('the history of a fleet', () => {
  it('has who owned how many shards every five seconds, for five minutes', async () => {
    const sample = new SampleFleet({ members: 3, shards: 6 });
    await using at = await start(sample);
    await at.clock.advance(5_000);
    sample.kill(1);
    await at.clock.advance(5_000);
    const { history } = await at.ask();
    const begin = Date.UTC(2000, 0, 1);
    expect(history).toEqual({
      at: [begin, begin + 5_000, begin + 10_000],
      members: [
        { id: 'member-0', slot: 0, shards: [2, 2, 3] },
        { id: 'member-2', slot: 2, shards: [2, 2, 3] },
        { id: 'member-1', slot: 1, shards: [2, 2, 0] },
      ],
    });
    await at.clock.advance(300_000);
    const later = (await at.ask()).history;
    expect([later.at.length, later.members.map(({ id }) => id)]).toEqual([60, ['member-0', 'member-2']]);
    sample.members = [...sample.members, { id: 'member-9', isAlive: true, isLeaving: false }];
    await at.clock.advance(5_000);
    expect((await at.ask()).history.members.find(({ id }) => id === 'member-9')?.slot).toBe(1);
  });

  it('goes on when the clock is set back', async () => {
    await using at = await start(new SampleFleet({ members: 1 }));
    await at.clock.advance(15_000);
    at.clock.set(Date.UTC(2000, 0, 1) + 6_000);
    await at.clock.advance(5_000);
    const begin = Date.UTC(2000, 0, 1);
    expect((await at.ask()).history.at).toEqual([begin, begin + 5_000, begin + 10_000, begin + 11_000]);
  });

  it('ends with the handler', () => {
    const clock = new FakeClock();
    const handler = createDebugHandler({ fleet: new SampleFleet(), clock, logger: null });
    expect(clock.pendingTimers).toBe(1);
    handler.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a fleet that answers what none should', () => {
  const nonsense: readonly [string, () => unknown][] = [
    ['throws', boom],
    ['answers nothing', () => undefined],
    ['answers a promise that rejects', () => Promise.reject(new Error('boom'))],
    ['has members of other kinds', () => ({ name: 1, id: {}, members: 'x', shards: 7, nodes: { length: 5 }, problems: 3 })],
    ['has lists of nothing', () => ({ members: [null, 1, {}], shards: [null, {}, { shard: -1 }], nodes: [null, 'x', {}, []] })],
    ['has lists that throw', () => ({ members: new Proxy([], { get: boom }), shards: new Proxy([], { get: boom }) })],
    [
      'has members of lists that throw',
      () => ({ shards: [new Proxy({}, { get: boom })], nodes: [new Proxy({}, { get: boom })] }),
    ],
  ];

  it.each(nonsense)('and %s is shown with nothing in it', async (_what, answer) => {
    await using at = await start({ snapshot: answer, explain: answer });
    const fleet = await at.ask();
    expect(fleet).toMatchObject({ id: '', members: 0, allMembers: [], shards: 0, known: 0, nodes: [] });
    expect(await at.debug.ask('/fleet')).toMatchObject({ status: 200 });
    expect(await at.debug.ask('/api/fleet/nodes/a')).toMatchObject({ status: 404 });
    await at.clock.advance(10_000);
    expect((await at.ask()).history).toMatchObject({ members: [] });
  });

  it('has its failure among the problems', async () => {
    await using at = await start({ snapshot: boom, explain: boom });
    expect((await at.ask()).problems).toMatchObject([{ kind: 'no-answer', message: 'the fleet cannot be asked: boom' }]);
  });

  it('has an end, however much it says', async () => {
    const long = 'x'.repeat(5_000);
    const explain = () => ({ state: long, why: long, owner: long, node: { [long]: long } });
    const nodes = Array.from({ length: 120_000 }, (_, index) => ({ nodeName: `${index}`, state: long, owner: long, shard: 0.5 }));
    const members = Array.from({ length: 5_000 }, (_, index) => ({
      id: `${index}${long}`,
      agent: long,
      shards: 1,
      isAlive: true,
    }));
    const shards = Array.from({ length: 20_000 }, (_, shard) => ({ shard, owner: long }));
    await using at = await start({ snapshot: () => ({ name: long, id: long, nodes, members, shards }), explain });
    const fleet = await at.ask();
    expect([fleet.known, fleet.allMembers.length, fleet.shards, fleet.history.members.length]).toEqual([
      100_000, 1_000, 10_000, 64,
    ]);
    expect([fleet.name.length, fleet.nodes[0]?.why.length, fleet.nodes[0]?.owner?.length]).toEqual([253, 500, 253]);
  });
});

it('a page needs a manager, a scheduler or a fleet, and a fleet that answers', () => {
  expect(() => createDebugHandler({ logger: null })).toThrow('Expected `manager`');
  expect(() => createDebugHandler({ fleet: {} as SampleFleet })).toThrow(
    'Expected `fleet` to be an object with snapshot, explain',
  );
});
