import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { objectBytes } from '../../../../src/api/json/bytes.ts';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { PodBudget } from '../../../../src/node/sources/pod-budget.ts';
import { barePod } from '../../../support/pods.ts';

interface Given {
  readonly name?: string;
  readonly version?: string;
  /** So many bytes of annotations. */
  readonly text?: number;
  /** So many bytes of an argument. */
  readonly argument?: number;
  readonly status?: object | undefined;
  readonly metadata?: object;
}

function podOf({ name = 'web', version = '1', text = 0, argument = 0, status, metadata }: Given = {}): WirePod {
  const annotations = { text: 'x'.repeat(text) };
  return barePod({
    metadata: { name, uid: name, resourceVersion: version, annotations, ...metadata },
    spec: { nodeName: 'n', containers: [{ name: 'app', image: 'app:1', args: ['x'.repeat(argument)] }] },
    ...(status !== undefined && { status }),
  });
}

const started = { phase: 'Running', startTime: '2026-01-01T00:00:00Z' };
const kilobyte = 1024;

describe('a budget for pods', () => {
  it('keeps a pod that fits as it is, and counts it until it is gone', () => {
    const budget = new PodBudget({ maxBytesPerPod: 5000, maxBytes: 10_000 });
    const pod = podOf({ text: 1000 });
    expect(budget.keep(pod, undefined)).toBe(pod);
    expect([budget.refusal('web'), budget.bytes]).toEqual([undefined, objectBytes(pod)]);
    const next = podOf({ text: 2000, version: '2' });
    expect(budget.keep(next, pod)).toBe(next);
    expect(budget.bytes).toBe(objectBytes(next));
    budget.forget('web');
    budget.forget('web');
    expect(budget.bytes).toBe(0);
  });

  it('keeps an outline of a pod that is too large, says why, and stays with that', () => {
    const budget = new PodBudget({ maxBytesPerPod: 5000 });
    const small = { phase: 'Pending', qosClass: 'BestEffort', conditions: [{ type: 'A', status: 'True' }] };
    const status = { ...small, containerStatuses: [{ name: 'x'.repeat(9000) }] };
    const large = podOf({ text: 6000, status });
    const outline = budget.keep(large, undefined);
    expect(outline).toEqual({
      metadata: { name: 'web', namespace: 'default', uid: 'web', resourceVersion: '1' },
      spec: { nodeName: 'n', containers: [] },
      status: small,
    });
    expect(budget.refusal('web')).toMatch(
      /^the pod takes \d+ bytes of memory, and this node holds 5000 for one pod; .*maxBytesPerPod/,
    );
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
    const smaller = budget.keep(podOf({ version: '2', metadata }), outline);
    expect(smaller).toMatchObject({ metadata: { resourceVersion: '2', ...metadata }, spec: { containers: [] } });
    expect(budget.bytes).toBe(objectBytes(smaller));
    budget.forget('web');
    expect(budget.refusal('web')).toBeUndefined();
  });

  it('has room for all pods together, for small ones and those that run twice as much', () => {
    const budget = new PodBudget({ maxBytes: 400 * kilobyte });
    const large = (name: string, status?: object) => podOf({ name, argument: 150 * kilobyte, ...(status && { status }) });
    const refusals = ['a', 'b', 'c'].map((name) => {
      budget.keep(large(name), undefined);
      return budget.refusal(name);
    });
    expect(refusals).toEqual([
      undefined,
      undefined,
      expect.stringMatching(/^the pods of this node take \d+ of the 409600 bytes .*maxBytes would/),
    ]);
    budget.keep(podOf({ name: 'small', argument: 100 * kilobyte }), undefined);
    budget.keep(large('running', started), undefined);
    expect([budget.refusal('small'), budget.refusal('running')]).toEqual([undefined, undefined]);
    budget.keep(large('over', { ...started, phase: 'Failed' }), undefined);
    expect(budget.refusal('over')).toBeDefined();
  });

  it('keeps a pod that becomes too large as it was, with what the server decides', () => {
    const budget = new PodBudget({ maxBytesPerPod: 5000 });
    const before = podOf({ text: 100 });
    budget.keep(before, undefined);
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
    const after = budget.keep(podOf({ text: 9000, version: '2', metadata }), before);
    expect(after).toEqual({ ...before, metadata: { ...before.metadata, resourceVersion: '2', ...metadata } });
    expect(budget.refusal('web')).toBeUndefined();
    const small = podOf({ text: 200, version: '3' });
    expect(budget.keep(small, after)).toBe(small);
  });

  it('follows the status of a pod that runs and becomes too large, and its spec where only labels and annotations are', () => {
    const budget = new PodBudget({ maxBytesPerPod: 20_000 });
    const conditions = (count: number) => Array.from({ length: count }, (_, index) => ({ type: `c${index}`, status: 'True' }));
    const known = budget.keep(podOf({ text: 100, status: started }), undefined);
    const status = { ...started, message: 'm', conditions: conditions(1) };
    const labelled = podOf({ text: 30_000, argument: 5, version: '2', status });
    const { spec } = labelled;
    const kept = budget.keep(labelled, known);
    expect(kept).toEqual({ metadata: { ...known.metadata, resourceVersion: '2' }, spec, status });
    const larger = budget.keep(podOf({ argument: 30_000, version: '3', status: { ...status, message: 'n' } }), kept);
    expect(larger).toEqual({ metadata: { ...known.metadata, resourceVersion: '3' }, spec, status: { ...status, message: 'n' } });
    const toldMuch = podOf({ argument: 30_000, version: '4', status: { ...started, message: 'o', conditions: conditions(300) } });
    expect(budget.keep(toldMuch, larger).status).toEqual({ ...status, message: 'o' });
    expect(budget.refusal('web')).toBeUndefined();
  });

  it('takes a pod that runs without its labels and annotations where only these are too large, as after a restart', () => {
    const budget = new PodBudget({ maxBytesPerPod: 5000 });
    const { metadata, spec, status } = podOf({ text: 9000, status: started, metadata: { labels: { app: 'web' } } });
    const { annotations: _annotations, labels: _labels, ...rest } = metadata ?? {};
    expect(budget.keep({ metadata, spec, status } as WirePod, undefined)).toEqual({ metadata: rest, spec, status });
    expect(budget.refusal('web')).toBeUndefined();
    budget.keep(podOf({ name: 'other', argument: 9000, status: started }), undefined);
    expect(budget.refusal('other')).toBeDefined();
  });

  it('keeps what makes a pod a mirror pod, of one in outline and of one without its annotations', () => {
    const budget = new PodBudget({ maxBytesPerPod: 5000 });
    const annotations = { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': 'x'.repeat(9000), other: 'a' };
    const kept = { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': '' };
    const pods = [podOf({ argument: 9000 }), podOf({ name: 'running', status: started })];
    for (const pod of pods) {
      const metadata = { ...pod.metadata, annotations };
      expect(budget.keep({ ...pod, metadata } as WirePod, undefined).metadata?.annotations).toEqual(kept);
    }
    expect(pods.map(({ metadata }) => budget.refusal(String(metadata?.uid)) === undefined)).toEqual([false, true]);
  });

  it('never counts more than twice what all pods may take and an outline each, whatever comes', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      what: fc.constantFrom('keep' as const, 'keep' as const, 'forget' as const),
      text: fc.nat(60_000),
      argument: fc.nat(60_000),
      runs: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const budget = new PodBudget({ maxBytesPerPod: 50_000, maxBytes: 60_000 });
        const kept = new Map<string, WirePod>();
        for (const [index, { name, what, runs, ...sizes }] of steps.entries()) {
          if (what === 'forget') {
            budget.forget(name);
            kept.delete(name);
            continue;
          }
          const pod = podOf({ name, version: `${index}`, ...sizes, ...(runs && { status: started }) });
          const result = budget.keep(pod, kept.get(name));
          expect(result.metadata).toMatchObject({ name, namespace: 'default', uid: name, resourceVersion: `${index}` });
          expect(result.spec?.containers.length).toBe(budget.refusal(name) === undefined ? 1 : 0);
          kept.set(name, result);
        }
        const bytes = [...kept.values()].reduce((sum, pod) => sum + objectBytes(pod), 0);
        expect(budget.bytes).toBe(bytes);
        expect(bytes).toBeLessThanOrEqual(2 * 60_000 + 5 * 1000);
      }),
    );
  });

  describe('reads the events of a watch', () => {
    afterEach(() => {
      vi.restoreAllMocks();
    });

    interface Step extends Given {
      /** So many pairs of annotations, of labels, and of names in managedFields. */
      readonly pairs?: readonly [annotations: number, labels: number, fields: number];
    }

    const pairsOf = (count: number, value: unknown): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/${index}`, value]));

    function eventOf({ pairs: [annotations, labels, fields] = [0, 0, 0], ...given }: Step): Buffer {
      const managedFields = [{ manager: 'é', fieldsV1: pairsOf(fields, {}) }];
      const kept = { 'kubernetes.io/config.mirror': '\u00e9"', 'kubernetes.io/config.hash': 'x'.repeat(annotations * 4) };
      const metadata = { annotations: { ...pairsOf(annotations, '\n<'), ...kept }, labels: pairsOf(labels, 'b'), managedFields };
      return Buffer.from(JSON.stringify({ type: 'MODIFIED', object: podOf({ ...given, metadata }) }));
    }

    const told = (length: number): object => ({ ...started, conditions: Array.from({ length }, () => ({ type: 'A' })) });

    /** The object of an event, as a reflector hands it on. */
    function objectOf(event: unknown): WirePod {
      const { object } = event as { readonly object: WirePod };
      delete object.metadata?.managedFields;
      return object;
    }

    it('so that the same is kept as of whole events', () => {
      const count = fc.oneof(fc.nat(100), fc.nat(6000));
      const step = fc.record({
        name: fc.constantFrom('a', 'b'),
        pairs: fc.tuple(count, count, count),
        argument: fc.oneof(fc.nat(1000), fc.nat(400_000)),
        status: fc.constantFrom(undefined, started, told(10), told(1000), { ...started, phase: 'Failed' }),
      });
      fc.assert(
        fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (steps) => {
          const limits = { maxBytesPerPod: 400_000, maxBytes: 600_000 };
          const [read, whole] = [new PodBudget(limits), new PodBudget(limits)];
          const [keptOfRead, keptOfWhole] = [new Map<string, WirePod>(), new Map<string, WirePod>()];
          for (const [index, given] of steps.entries()) {
            const line = eventOf({ ...given, version: `${index}` });
            const { name } = given;
            keptOfRead.set(name, read.keep(objectOf(read.readEvent(line)), keptOfRead.get(name)));
            keptOfWhole.set(name, whole.keep(objectOf(JSON.parse(String(line))), keptOfWhole.get(name)));
            expect(keptOfRead).toEqual(keptOfWhole);
            expect([read.bytes, read.refusal(name)]).toEqual([whole.bytes, whole.refusal(name)]);
          }
        }),
        { numRuns: 40 },
      );
    });

    it('and makes no more than an outline of one that is too large', () => {
      const budget = new PodBudget({ maxBytesPerPod: 200_000 });
      const parse = vi.spyOn(JSON, 'parse');
      const most = (): number =>
        Math.max(...parse.mock.calls.filter(([text]) => text.startsWith('{')).map(([text]) => text.length));
      const large = eventOf({ argument: 300_000, pairs: [3000, 3000, 3000] });
      const outline = budget.keep(objectOf(budget.readEvent(large)), undefined);
      expect(most()).toBeLessThan(1000);
      expect([outline.spec, budget.refusal('web')]).toEqual([
        { nodeName: 'n', containers: [] },
        expect.stringMatching('maxBytesPerPod'),
      ]);
      parse.mockClear();
      const fits = eventOf({ name: 'fits', argument: 150_000, pairs: [0, 0, 30_000] });
      budget.keep(objectOf(budget.readEvent(fits)), undefined);
      expect([budget.refusal('fits'), most()]).toEqual([undefined, expect.closeTo(150_000, -3)]);
    });

    it('and lets a pod go on that is known and of which nobody holds the version before', () => {
      const budget = new PodBudget({ maxBytesPerPod: 200_000 });
      budget.keep(podOf({ argument: 1000 }), undefined);
      const line = eventOf({ argument: 1000, pairs: [0, 6000, 0], version: '2' });
      const { metadata, spec } = budget.keep(objectOf(budget.readEvent(line)), undefined);
      expect([spec?.containers.length, metadata?.labels, budget.refusal('web')]).toEqual([1, undefined, undefined]);
    });

    it.each([
      '',
      '{',
      `{"type":"ADDED","object":{"a":"${'x'.repeat(200_000)}"`,
      `${' '.repeat(200_000)}1`,
    ])('and leaves what is no event to JSON.parse', (text) => {
      const read = (): unknown => new PodBudget().readEvent(Buffer.from(text));
      if (text.endsWith('1')) expect(read()).toBe(1);
      else expect(read).toThrow(SyntaxError);
    });
  });

  it.each([
    [{ maxBytes: -1 }, '`podBudget.maxBytes` to be an integer from 0 up, got -1'],
    [{ maxBytesPerPod: '1' }, '`podBudget.maxBytesPerPod` to be an integer from 0 up'],
    [{ max: 1 }, '`podBudget.max` to be absent'],
  ])('refuses %j', (options, message) => {
    expect(() => new PodBudget(options as never)).toThrow(message);
  });
});
