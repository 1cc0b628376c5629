import { describe, expect, it } from 'vitest';
import { Extender } from '../../../../src/scheduler/extenders/extender.ts';
import { ExtenderError } from '../../../../src/scheduler/extenders/extender-error.ts';
import { extendersOption } from '../../../../src/scheduler/extenders/extender-options.ts';
import { Extenders } from '../../../../src/scheduler/extenders/extenders.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { nodeInfo, podInfo } from '../framework-world.ts';
import { type Answers, all, extenderServer } from './extender-world.ts';

const { signal } = new AbortController();
const nodes = ['n1', 'n2', 'n3'].map((name) => nodeInfo(name));
const web = podInfo('web');

/** Several extenders on one server: each has its name in front of its verbs. */
async function several(answers: Answers, options: Readonly<Record<string, object>>) {
  const server = await extenderServer(answers);
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = {
    debug: () => {},
    info: ({ attempt, failingForMs }: { attempt?: number; failingForMs?: number }, text: string) =>
      lines.push(`${text} (${attempt}, ${failingForMs} ms)`),
    error: () => {},
    warn: (_fields: unknown, text: string) => lines.push(text),
  };
  const given = Object.entries(options).map(([name, more]) => ({
    ...{ urlPrefix: server.url, nodeCacheCapable: true, weight: 1 },
    ...Object.fromEntries(
      Object.keys(answers).flatMap((verb) =>
        verb.startsWith(name) && !verb.includes('/') ? [[`${verb.slice(name.length)}Verb`, verb]] : [],
      ),
    ),
    ...more,
  }));
  const made = extendersOption('extenders', given).map((one) => new Extender(one, clock));
  const extenders = new Extenders(made, { clock, logger, guard: () => {} });
  const dispose = async (): Promise<void> => {
    await Promise.all(made.map((one) => one.close()));
    await server[Symbol.asyncDispose]();
  };
  return { extenders, server, clock, lines, [Symbol.asyncDispose]: dispose };
}

describe('extenders', () => {
  it('are asked one after the other of what is left, those that are ignorable last, and no more once nothing is', async () => {
    const answers: Answers = {
      afilter: () => ({ NodeNames: ['n2'], FailedNodes: { n1: 'a' } }),
      bfilter: () => ({ NodeNames: ['n3', 'n2'], FailedNodes: { n1: 'b' } }),
      cfilter: () => ({ NodeNames: [], FailedAndUnresolvableNodes: { n2: 'c' } }),
      dfilter: () => ({ NodeNames: [] }),
    };
    await using world = await several(answers, { a: { ignorable: true }, b: {}, c: { ignorable: true }, d: { ignorable: true } });
    const { feasible, refusals } = await world.extenders.filter(web, nodes, signal);
    expect(feasible).toEqual([]);
    expect(world.server.asked.map(({ verb, nodes: asked }) => [verb, asked])).toEqual([
      ['bfilter', ['n1', 'n2', 'n3']],
      ['afilter', ['n3', 'n2']],
      ['cfilter', ['n2']],
    ]);
    expect([...refusals]).toEqual([
      ['n1', { code: 'Unschedulable', reason: 'a' }],
      ['n2', { code: 'UnschedulableAndUnresolvable', reason: 'c' }],
    ]);
  });

  it('are all asked for scores, which are added up', async () => {
    const answers: Answers = {
      'a/p': () => [{ Host: 'n1', Score: 1 }],
      'b/p': () => [
        { Host: 'n1', Score: 2 },
        { Host: 'n2', Score: 10 },
      ],
      'c/p': () => 'x',
    };
    const verbs = { a: { prioritizeVerb: 'a/p', weight: 3 }, b: { prioritizeVerb: 'b/p' }, c: { prioritizeVerb: 'c/p' } };
    await using world = await several(answers, verbs);
    expect(await world.extenders.prioritize(web, nodes, signal)).toEqual([50, 100, 0]);
  });

  it.each<[string, Answers[string], string]>([
    ['an error of its own', () => ({ Error: 'no idea' }), 'no idea'],
    ['a node of which it was not asked', () => ({ NodeNames: ['n9'] }), 'it named the node "n9", of which it was not asked'],
    ['another node as a whole', () => ({ Nodes: { items: [{ metadata: { name: 'n9' } }] } }), 'it named the node "n9"'],
    ['a list that is none', () => ({ NodeNames: 'n1' }), 'expected NodeNames to be a list, got "n1" (string)'],
    ['reasons that are no text', () => ({ FailedNodes: { n1: 1 } }), 'expected FailedNodes.n1 to be text, got 1 (number)'],
    ['a list', () => [], 'expected the answer to be an object, got (array)'],
    ['more than one answer', () => '{"NodeNames":["n1"]} {}', 'its answer is no JSON'],
    ['nothing that is JSON', () => '<html>', 'its answer is no JSON'],
    ['nothing at all', () => undefined, 'answered with 404'],
  ])('fail at %s, with the extender, the pod and the cause', async (_what, afilter, message) => {
    await using world = await several({ afilter }, { a: {} });
    const failed = world.extenders.filter(web, nodes, signal);
    await expect(failed).rejects.toThrow(ExtenderError);
    await expect(failed).rejects.toMatchObject({ code: 'ERR_EXTENDER', extender: world.server.url.slice(0, -1), step: 'filter' });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toThrow('failed to filter nodes for d/web');
  });

  it('that are ignorable and fail are passed over; the log says so once a minute', async () => {
    await using world = await several({ afilter: () => 'x' }, { a: { ignorable: true } });
    for (const ms of [0, 59_999, 1]) {
      await world.clock.advance(ms);
      expect((await world.extenders.filter(web, nodes, signal)).feasible).toEqual(nodes);
    }
    expect(world.lines).toEqual(['an extender failed and is passed over', 'an extender failed and is passed over']);
  });

  it('have their say again once they answer: the log says so where it has told of the failures before', async () => {
    let works = false;
    await using world = await several({ afilter: (asked) => (works ? all(asked) : 'x') }, { a: { ignorable: true } });
    for (const [ms, isWell] of [
      [0, false],
      [1000, false],
      [1000, true],
      [0, true],
      [0, false],
      [0, true],
    ] as const) {
      await world.clock.advance(ms);
      works = isWell;
      await world.extenders.filter(web, nodes, signal);
    }
    expect(world.lines).toEqual([
      'an extender failed and is passed over',
      'an extender that was passed over has its say again (2, 2000 ms)',
    ]);
  });

  it('narrow the victims one after another: each is asked of what the ones before have left, the ignorable ones last', async () => {
    const victims = ['v1', 'v2', 'v3', 'v4'].map((name) => podInfo(name));
    const boss = podInfo('boss', { priority: 10 });
    const onNodes = new Map(nodes.map((node) => [node.name, { ...node, pods: victims } as never]));
    const candidates = nodes.map(({ name }) => ({ nodeName: name, victims, budgetViolations: 2 }));
    const leaving = (left: Readonly<Record<string, readonly string[]>>, violations: number) => () => ({
      NodeNameToMetaVictims: Object.fromEntries(
        Object.entries(left).map(([name, names]) => [
          name,
          { Pods: names.map((one) => ({ UID: podInfo(one).uid })), NumPDBViolations: violations },
        ]),
      ),
    });
    const answers: Answers = {
      apreempt: leaving({ n2: ['v3'] }, 0),
      bpreempt: leaving({ n3: ['v1', 'v2', 'v3'], n2: ['v2', 'v3'] }, 1),
      cpreempt: () => 'nonsense',
      dpreempt: leaving({ n2: ['v3'], n3: [] }, 0),
    };
    const options = { a: { ignorable: true }, b: {}, c: { ignorable: true }, d: { ignorable: true } };
    await using world = await several(answers, options);
    const left = await world.extenders.narrow(boss, candidates, (name) => onNodes.get(name), signal);
    expect(left.map((one) => [one.nodeName, one.victims.map(({ name }) => name), one.budgetViolations])).toEqual([
      ['n2', ['v3'], 0],
    ]);
    const asked = world.server.asked.map(({ verb, body }) => {
      const { NodeNameToMetaVictims: sent } = body as Record<
        string,
        Readonly<Record<string, { readonly Pods: readonly unknown[] }>>
      >;
      return [verb, Object.entries(sent ?? {}).map(([name, { Pods }]) => `${name} ${Pods.length}`)];
    });
    expect(asked).toEqual([
      ['bpreempt', ['n1 4', 'n2 4', 'n3 4']],
      ['apreempt', ['n2 2', 'n3 3']],
      ['cpreempt', ['n2 1']],
      ['dpreempt', ['n2 1']],
    ]);
  });

  it('are asked no more of victims once no node is left', async () => {
    const answers: Answers = { apreempt: () => ({ NodeNameToMetaVictims: {} }), bpreempt: () => 'nonsense' };
    await using world = await several(answers, { a: {}, b: {} });
    const candidates = [{ nodeName: 'n1', victims: [podInfo('v1')], budgetViolations: 0 }];
    expect(await world.extenders.narrow(podInfo('boss', { priority: 10 }), candidates, () => undefined, signal)).toEqual([]);
    expect(world.server.asked.map(({ verb }) => verb)).toEqual(['apreempt']);
  });

  it('end with the reason of the signal, ignorable or not', async () => {
    await using world = await several({ afilter: () => new Promise(() => {}) }, { a: { ignorable: true } });
    const controller = new AbortController();
    const ended = expect(world.extenders.filter(web, nodes, controller.signal)).rejects.toThrow('over');
    controller.abort(new Error('over'));
    await ended;
  });

  it('keep a thousand characters of a reason', async () => {
    await using world = await several({ afilter: () => ({ FailedNodes: { n1: 'x'.repeat(5000) } }) }, { a: {} });
    const { refusals } = await world.extenders.filter(web, nodes, signal);
    expect(refusals.get('n1')?.reason).toHaveLength(1000);
  });
});
