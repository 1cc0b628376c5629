import { describe, expect, it } from 'vitest';
import type { PodStatus, WireContainerStatus, WirePod } from '../../../../src/api/json/types.ts';
import { canonicalPodStatus, normalizedOf } from '../../../../src/status/canonical/canonical-status.ts';
import { normalizeStatus } from '../../../../src/status/canonical/normalize-status.ts';
import { isPodStatusByKubeletEqual } from '../../../../src/status/rules/pod-status-equality.ts';

type State = NonNullable<WireContainerStatus['state']>;
const container = (name: string, state: State = {}, lastState: State = {}): WireContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  lastState,
});
const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const ended = (message: string): State => ({ terminated: { exitCode: 0, message } });
const bytes = (text: string | undefined): number => Buffer.byteLength(text ?? '');
const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

/** Random orders, the same ones in every run. */
function shuffled<T>(list: readonly T[], round: number): T[] {
  const key = (i: number): number => ((i + 1) * 7919 * (round + 3)) % 104_729;
  return list
    .map((item, i) => [key(i), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

describe('normalizeStatus: order', () => {
  it('makes shuffled container statuses equal [T-SM-022]', () => {
    const all = names('container', 10);
    const pod: WirePod = { spec: { containers: [], initContainers: all.map((name) => ({ name })) } };
    const statusIn = (round: number): PodStatus =>
      Object.fromEntries(lists.map((list, i) => [list, shuffled(all, round + i).map((name) => container(name))]));
    const wanted = normalizeStatus(pod, statusIn(100));
    expect(wanted.containerStatuses?.map(({ name }) => name)).toEqual(all);
    for (let round = 0; round < 10; round += 1) {
      expect(isPodStatusByKubeletEqual(wanted, normalizeStatus(pod, statusIn(round)))).toBe(true);
      expect(normalizeStatus(pod, statusIn(round))).toEqual(wanted);
    }
  });

  it('sorts by bytes, keeps the spec’s order of init containers, and puts unknown ones last', () => {
    const pod: WirePod = { spec: { containers: [], initContainers: [{ name: 'z' }, { name: 'missing' }, { name: 'a' }] } };
    const status = {
      containerStatuses: ['b', 'B', 'a'].map((name) => container(name)),
      initContainerStatuses: ['x', 'a', 'z'].map((name) => container(name)),
    };
    const result = normalizeStatus(pod, status);
    expect(result.containerStatuses?.map(({ name }) => name)).toEqual(['B', 'a', 'b']);
    expect(result.initContainerStatuses?.map(({ name }) => name)).toEqual(['z', 'a', 'x']);
  });
});

describe('normalizeStatus: termination messages', () => {
  const podOf = (count: number): WirePod => ({
    spec: {
      containers: names('r', count).map((name) => ({ name })),
      initContainers: names('i', count).map((name) => ({ name })),
      ephemeralContainers: names('e', count).map((name) => ({ name })),
    },
  });
  const statusOf = (message: string, count = 16): PodStatus => ({
    containerStatuses: names('r', count).map((name) => container(name, ended(message), ended(message))),
    initContainerStatuses: names('i', count).map((name) => container(name, ended(message), ended(message))),
    ephemeralContainerStatuses: names('e', count).map((name) => container(name, ended(message), ended(message))),
  });
  const messages = (status: PodStatus): (string | undefined)[] =>
    lists.flatMap((list) =>
      (status[list] ?? []).flatMap((c) => [c.state?.terminated?.message, c.lastState?.terminated?.message]),
    );

  it('keeps all messages that fit [T-SM-025]', () => {
    for (const length of [192, 200, 208]) {
      const kept = messages(normalizeStatus({ spec: { containers: [] } }, statusOf('a'.repeat(length))));
      expect(kept).toEqual(Array.from({ length: 96 }, () => 'a'.repeat(length)));
    }
  });

  it('gives each of 48 containers 256 bytes, in state and in lastState [T-SM-025]', () => {
    const cut = messages(normalizeStatus(podOf(16), statusOf('a'.repeat(300))));
    expect(cut).toEqual(Array.from({ length: 96 }, () => 'a'.repeat(256)));
    expect(messages(normalizeStatus(podOf(16), statusOf('a'.repeat(256))))[0]).toHaveLength(256);
  });

  it.each([
    ['two bytes', 'é', 1],
    ['three bytes', '€', 0],
    ['four bytes', '😀', 3],
  ])('cuts between characters of %s [T-SM-025]', (_size, character, shift) => {
    const message = 'a'.repeat(shift) + character.repeat(200);
    const [first, ...others] = messages(normalizeStatus(podOf(16), statusOf(message)));
    expect(bytes(first)).toBe(255);
    expect(message.startsWith(first ?? 'none')).toBe(true);
    expect(new Set(others)).toEqual(new Set([first]));
  });

  it('gives all 12288 bytes to a status of a pod without containers in its spec', () => {
    const cut = messages(normalizeStatus({}, statusOf('a'.repeat(13_000), 1)));
    expect(cut[0]).toHaveLength(12_288);
  });

  it('counts containers of all three kinds, and rounds the share down to whole bytes', () => {
    const pod: WirePod = {
      spec: { containers: names('r', 5).map((name) => ({ name })), initContainers: [{ name: 'i' }, { name: 'j' }] },
    };
    expect(messages(normalizeStatus(pod, statusOf('a'.repeat(13_000), 1)))[0]).toHaveLength(1755);
  });
});

describe('normalizeStatus: times', () => {
  it('cuts every time to whole seconds [T-SM-026]', () => {
    const [given, wanted] = ['1999-12-31T23:59:59.987654321Z', '1999-12-31T23:59:59Z'];
    const statusAt = (time: string): PodStatus => {
      const running = { running: { startedAt: time } };
      const terminated = { terminated: { exitCode: 0, startedAt: time, finishedAt: time } };
      const two = [container('a', running, terminated), container('b', terminated, running)];
      return {
        startTime: time,
        conditions: [{ type: 'Ready', status: 'True', lastProbeTime: time, lastTransitionTime: time }],
        containerStatuses: two,
        initContainerStatuses: two,
        ephemeralContainerStatuses: two,
      };
    };
    expect(normalizeStatus({}, statusAt(given))).toEqual(statusAt(wanted));
    const date = JSON.parse(JSON.stringify(statusAt('X')), (_, value) => (value === 'X' ? new Date(given) : value));
    expect(normalizeStatus({}, date)).toEqual(statusAt(wanted));
  });

  it('writes UTC, cuts times before the epoch too, and reads Go’s zero time as no time', () => {
    expect(normalizeStatus({}, { startTime: '2000-01-01T01:30:00+01:30' }).startTime).toBe('2000-01-01T00:00:00Z');
    expect(normalizeStatus({}, { startTime: new Date(-1) }).startTime).toBe('1969-12-31T23:59:59Z');
    expect(normalizeStatus({}, { startTime: '0001-01-01T00:00:00Z' })).toEqual({});
    expect(normalizeStatus({}, { startTime: null })).toEqual({});
  });
});

describe('normalizeStatus: the canonical form', () => {
  it('leaves out empty members, and writes the members that a container status always has', () => {
    const given = { phase: '', conditions: [], podIPs: [], message: undefined, hostIP: null, containerStatuses: [{ name: 'c' }] };
    expect(normalizeStatus({}, given as never)).toStrictEqual({ containerStatuses: [container('c')] });
  });

  it('is idempotent, and changes neither pod nor status', () => {
    const pod: WirePod = { spec: { containers: [{ name: 'a' }], initContainers: [{ name: 'i' }] } };
    const given: PodStatus = {
      startTime: new Date(5),
      containerStatuses: [container('b'), container('a', ended('x'.repeat(20_000)))],
    };
    const before = structuredClone({ pod, given });
    const once = normalizeStatus(pod, given);
    expect(normalizeStatus(pod, once)).toStrictEqual(once);
    expect({ pod, given }).toEqual(before);
  });

  it('keeps the order and the repetitions of conditions', () => {
    const conditions = ['b', 'a', 'b'].map((type) => ({ type, status: 'True' }));
    expect(normalizeStatus({}, { conditions }).conditions).toEqual(conditions);
  });

  it('copies what Kubernetes 1.36 does not know as it stands, in a status, a condition and a container status', () => {
    const unknown = {
      text: '',
      list: ['', null, []],
      startTime: '2030-01-01T00:00:00.123456Z',
      startedAt: 'soon',
      limits: { cpu: 'plenty' },
      observedGeneration: 0,
    };
    const given = {
      fieldOf137: unknown,
      startedAt: '',
      conditions: [{ type: 'Ready', status: 'True', fieldOf137: unknown, startTime: '' }],
      containerStatuses: [{ ...container('c'), fieldOf137: unknown, phase: [] }],
    };
    const copy = normalizeStatus({}, given as object as PodStatus);
    expect(copy).toStrictEqual(given);
    expect((copy as { fieldOf137?: unknown }).fieldOf137).not.toBe(unknown);
  });

  it('makes JSON of an unknown member that is none', () => {
    const unknown = { time: new Date('2030-01-01T00:00:00.123Z'), nothing: null, missing: undefined, text: 'a\ud800' };
    const given = { fieldOf137: unknown, gone: null } as PodStatus;
    expect(normalizeStatus({}, given)).toStrictEqual({ fieldOf137: { time: '2030-01-01T00:00:00Z', text: 'a\ufffd' } });
  });

  it('takes no member called __proto__, however deep', () => {
    const inside = '{"__proto__":{"polluted":1},"x":1}';
    const state = `{"running":{"startedAt":null},"__proto__":{"polluted":1}}`;
    const container = `{"name":"c","fieldOf137":${inside},"state":${state},"resources":${inside},"__proto__":{"polluted":1}}`;
    const given = JSON.parse(`{"fieldOf137":${inside},"__proto__":{"polluted":1},"containerStatuses":[${container}]}`);
    const again = normalizeStatus({}, given, { previous: normalizeStatus({}, given) });
    for (const copy of [normalizeStatus({}, given), again]) {
      expect(JSON.stringify(copy)).not.toContain('polluted');
      const [first] = copy.containerStatuses ?? [];
      for (const object of [copy, first, first?.state, first?.resources, (copy as { fieldOf137?: object }).fieldOf137]) {
        expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      }
    }
  });

  it.each([
    ['status', 'text', 'status', 'an object'],
    ['a member that is no list', { conditions: {} }, 'status.conditions', 'a list'],
    ['a list of text', { containerStatuses: ['c'] }, 'status.containerStatuses[0]', 'an object'],
    ['text that is no time', { startTime: 'soon' }, 'status.startTime', 'an RFC 3339 time'],
    ['an invalid Date', { startTime: new Date(Number.NaN) }, 'status.startTime', 'a valid Date'],
    ['a function', { message: () => '' }, 'status.message', 'a JSON value'],
    ['NaN', { observedGeneration: Number.NaN }, 'status.observedGeneration', 'a finite number'],
    ['a condition without a type', { conditions: [{ status: 'True' }] }, 'status.conditions[0].type', 'a string'],
    ['an unknown function', { fieldOf137: { f: () => '' } }, 'status.fieldOf137.f', 'a JSON value'],
    ['an unknown number that is none', { fieldOf137: [Number.NaN] }, 'status.fieldOf137[0]', 'a JSON value'],
    ['no state', { containerStatuses: [{ name: 'c', state: 'running' }] }, 'status.containerStatuses[0].state', 'an object'],
    ['text for ready', { containerStatuses: [{ name: 'c', ready: 'yes' }] }, 'status.containerStatuses[0].ready', 'a boolean'],
  ])('refuses %s, and names the place and the rule', (_what, status, path, rule) => {
    expect(() => normalizeStatus({}, status as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(() => normalizeStatus({}, status as never)).toThrow(path);
    expect(() => normalizeStatus({}, status as never)).toThrow(rule);
  });
});

describe('normalizedOf', () => {
  const pod: WirePod = { spec: { containers: names('c', 2).map((name) => ({ name })) } };

  it('gives the status itself where nothing is to be done', () => {
    const canonical = canonicalPodStatus({
      phase: 'Running',
      containerStatuses: [container('c0'), container('c1', ended('fine'))],
    });
    expect(normalizedOf(pod, canonical)).toBe(canonical);
  });

  it.each(lists)('puts %s in order, cuts their messages, and changes nothing', (list) => {
    const given = { [list]: [container('c1', ended('x'.repeat(20_000)), ended('y'.repeat(20_000))), container('c0')] };
    const canonical = canonicalPodStatus(given);
    const normalized = normalizedOf(pod, canonical);
    expect(normalized).toStrictEqual(normalizeStatus(pod, given));
    expect(normalized[list]?.map(({ state }) => bytes(state?.terminated?.message))).toContain(6144);
    expect(canonical).toStrictEqual(canonicalPodStatus(given));
  });
});
