import { describe, expect, it } from 'vitest';
import type { DebugPod, DebugPodRow, DebugSnapshot } from '../../../../src/observe/debug/debug-api.ts';
import {
  columns,
  filterOf,
  partText,
  podPageText,
  printable,
  tableText,
  timeText,
} from '../../../../src/observe/debug/plain-text.ts';

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const row = (name: string, more: Partial<DebugPodRow> = {}): DebugPodRow => ({
  podUID: `uid-${name}`,
  namespace: 'default',
  name,
  phase: 'Running',
  ready: true,
  restarts: 0,
  sync: 'in-sync',
  version: 2,
  acknowledgedVersion: 2,
  attempt: 0,
  isStatic: false,
  isDeleting: false,
  changedAt: at - 90_000,
  ...more,
});

function snapshotOf(pods: readonly DebugPodRow[], more: Partial<DebugSnapshot['summary']> = {}): DebugSnapshot {
  const summary: DebugSnapshot['summary'] = {
    at,
    state: 'running',
    pods: pods.length,
    inTrouble: pods.filter(({ problem }) => problem !== undefined).length,
    ownProblems: {},
    notes: [],
    bySync: { 'in-sync': 2, pending: 1 },
    byPhase: { Running: 3 },
    inFlight: 1,
    channelDepth: 4,
    channelCapacity: 1_000,
    oldestUnsentMs: 1_500,
    pausedUntil: undefined,
    node: undefined,
    scheduler: undefined,
    ...more,
  };
  return { summary, traffic: [], pods };
}

const everything = { text: '', sync: [], phase: [], trouble: false };

describe('the filter of a query', () => {
  it('has each word and each value once', () => {
    const query = new URLSearchParams(`filter=${'web+db+'.repeat(2_000)}${'&sync=gone&phase=Failed'.repeat(1_000)}`);
    expect(filterOf(query)).toEqual({ text: 'web db', sync: ['gone'], phase: ['Failed'], trouble: false });
  });

  it('has at most twenty of each', () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `v${n}`);
    const queries = (count: number): string[] => [
      `filter=${many(count).join('+')}`,
      many(count)
        .map((value) => `sync=${value}`)
        .join('&'),
      many(count)
        .map((value) => `phase=${value}`)
        .join('&'),
    ];
    expect(queries(20).map((query) => filterOf(new URLSearchParams(query)) !== undefined)).toEqual([true, true, true]);
    expect(queries(21).map((query) => filterOf(new URLSearchParams(query)))).toEqual([undefined, undefined, undefined]);
  });
});

describe('the table as text', () => {
  const pods = [row('web-b'), row('web-a', { sync: 'pending', acknowledgedVersion: 1 }), row('db', { phase: undefined })];

  it('has a head, and a line for each pod in order of namespace and name', () => {
    expect(tableText(snapshotOf(pods), everything)).toBe(
      [
        'trouble    none',
        'manager    running',
        'pods       3: in-sync 2, pending 1',
        'phases     Running 3',
        'requests   1 in flight, 4 of 1000 hints wait',
        'unsent     the oldest change waits for 1.5 s',
        '',
        'NAMESPACE  NAME   PHASE    READY  RESTARTS  SYNC     VERSION  FAILURES  CHANGED  UID        TROUBLE',
        'default    db     -        yes    0         in-sync  2/2      0         90 s     uid-db     -',
        'default    web-a  Running  yes    0         pending  1/2      0         90 s     uid-web-a  -',
        'default    web-b  Running  yes    0         in-sync  2/2      0         90 s     uid-web-b  -',
      ].join('\n'),
    );
  });

  it.each([
    ['filter=WEB', ['web-a', 'web-b']],
    ['filter=default/+uid-web-b', ['web-b']],
    ['sync=pending&sync=paused', ['web-a']],
    ['phase=none', ['db']],
    ['filter=web&phase=none', []],
  ])('shows what %s asks for', (query, names) => {
    const text = tableText(snapshotOf(pods), filterOf(new URLSearchParams(query)) ?? everything);
    expect(text.split('\n').flatMap((line) => /^default +(\S+)/.exec(line)?.[1] ?? [])).toEqual(names);
    expect(text).toContain(`shown      ${names.length} of 3 pods`);
  });

  it('tells of a call under way with a sign of its own, and of trouble first', () => {
    const underWay = { method: 'createPod', since: at - 48_000 };
    const problem = { kind: 'create-pod', message: 'createPod() has not settled within 300 s', attempt: 1 };
    const text = tableText(snapshotOf([row('a', { underWay }), row('b', { underWay, problem })]), everything);
    const cells = text.split('\n').flatMap((line) => /uid-. {2}(.*)$/.exec(line)?.[1] ?? []);
    expect(cells).toEqual(['! createPod() has not settled within 300 s.', '~ createPod() under way for 48 s']);
  });

  it('tells which pods are static, and which are being deleted', () => {
    const tagged = [row('a', { isDeleting: true }), row('b', { isStatic: true, isDeleting: true }), row('c')];
    const lines = tableText(snapshotOf(tagged), everything).split('\n').slice(-3);
    expect(lines.map((line) => /^default +(.*?) +Running/.exec(line)?.[1])).toEqual([
      'a (deleting)',
      'b (static, deleting)',
      'c',
    ]);
  });

  it('tells of a pause, of the node, and of what the node waits for', () => {
    const node = { name: 'n', state: 'running', ready: false, registered: true, notes: ['the lease is late'], problemCount: 3 };
    const late = { kind: 'lease', message: 'the lease is late', attempt: 2, retryAt: at + 6_000, of: 'node', pods: 0 } as const;
    const pods = { podUID: 'u', podNamespace: 'default', podName: 'web', of: 'manager', pods: 2 } as const;
    const notes = [late, { kind: 'forbidden', message: 'no\nright', attempt: 1, ...pods }];
    const scheduler = { state: 'running', notes: [], problemCount: 0 };
    const text = tableText(
      snapshotOf([], { node, notes, scheduler, pausedUntil: at + 5_000, oldestUnsentMs: undefined }),
      everything,
    );
    expect(text).toContain('paused     the whole client waits for 5.0 s');
    expect(text).toContain('node       n running, registered, not ready\nscheduler  running\n');
    expect(text.split('\n').slice(1, 3)).toEqual([
      'note       the lease is late; failed twice, next try in 6.0 s',
      'note       default/web: no right (2 pods have a problem of this kind)',
    ]);
    expect(text).toContain('unsent     nothing');
  });
});

describe('what is wrong in all, as text', () => {
  const problem = { kind: 'k', message: 'no', attempt: 1 };
  const firstLine = (pods: readonly DebugPodRow[], ownProblems: DebugSnapshot['summary']['ownProblems']): string =>
    tableText(snapshotOf(pods, { ownProblems }), everything).split('\n')[0] ?? '';

  it('counts the problems of the node, the scheduler and the manager, then the pods', () => {
    const six = [row('a', { problem }), ...['b', 'c', 'd', 'e', 'f'].map((name) => row(name))];
    expect(firstLine(six, { node: 2 })).toBe('trouble    ! 2 problems of the node, 1 of 6 pods');
    expect(firstLine([row('a')], { node: 1, scheduler: 3, manager: 1 })).toBe(
      'trouble    ! 1 problem of the node, 3 problems of the scheduler, 1 problem of the manager',
    );
    expect(firstLine([row('a')], {})).toBe('trouble    none');
  });

  it('has one pod as one', () => {
    expect(firstLine([row('a', { problem })], {})).toBe('trouble    ! 1 of 1 pod');
    const text = tableText(snapshotOf([row('a')]), filterOf(new URLSearchParams('trouble')) ?? everything);
    expect(text).toContain('shown      0 of 1 pod\n');
  });
});

describe('pods in trouble, as text', () => {
  const problem = {
    kind: 'create-pod',
    message: 'createPod() failed: no quota',
    since: at - 7_000,
    attempt: 2,
    retryAt: at + 6_000,
  };
  const pods = [row('a'), row('c', { problem: { ...problem, since: at - 1_000 } }), row('b', { problem })];

  it('come first, the longest first, each with a sentence, and are counted', () => {
    const lines = tableText(snapshotOf(pods), everything).split('\n');
    expect(lines[0]).toBe('trouble    ! 2 of 3 pods');
    expect(lines.slice(-3).map((line) => /^default +(\w)/.exec(line)?.[1])).toEqual(['b', 'c', 'a']);
    expect(lines.at(-3)).toMatch(/ ! createPod\(\) failed: no quota\. It has failed twice, for 7\.0 s\. Next try in 6\.0 s\.$/);
    expect(lines.at(-1)).toMatch(/ -$/);
  });

  it.each(['trouble', 'trouble=yes', 'trouble=', 'filter=b+c&trouble=1'])('are shown alone for ?%s', (query) => {
    const text = tableText(snapshotOf(pods), filterOf(new URLSearchParams(query)) ?? everything);
    expect(text).toContain(query.startsWith('filter') ? 'shown      0 of 3 pods' : 'shown      2 of 3 pods');
    expect(text).not.toMatch(/^default +a/m);
  });

  it.each(['', 'trouble=no', 'trouble=0', 'trouble=false'])('are shown with the others for ?%s', (query) => {
    expect(filterOf(new URLSearchParams(query))?.trouble).toBe(false);
  });

  it('are all there is of a page without a manager', () => {
    const lines = tableText(snapshotOf(pods, { state: 'none' }), everything).split('\n');
    expect(lines.slice(0, 3)).toEqual(['trouble    ! 2 of 3 pods', 'pods       3', '']);
  });
});

describe('a node and a scheduler as text', () => {
  const part = { at, kind: 'node', name: 'n', state: 'running', problems: [], problemCount: 0, lines: [['a.b', 'c']] } as const;

  it('say what is wrong before everything else', () => {
    const own = { kind: 'lease', message: 'the Lease is late', since: at - 60_000, attempt: 0 };
    const ofPod = { kind: 'k', message: 'no', attempt: 0, podUID: 'u', podNamespace: 'ns', podName: 'web' };
    const problems = [own, ofPod, { ...ofPod, podName: '' }];
    expect(partText({ ...part, problems, problemCount: 5 })).toBe(
      [
        'node     n running',
        'trouble  ! the Lease is late. It has been so for 60 s.',
        'trouble  ! ns/web: no.',
        'trouble  ! the pod with uid u: no.',
        'trouble  and 2 more',
        '',
        'a.b  c',
      ].join('\n'),
    );
  });

  it('say that nothing is wrong', () => {
    expect(partText({ ...part, kind: 'scheduler', name: '' })).toBe('scheduler  running\ntrouble    none\n\na.b  c');
  });
});

describe('a pod as text', () => {
  it('has all there is to know, and its timeline', () => {
    const problem = { kind: 'unavailable', message: 'PATCH failed: no', since: at - 7_000, attempt: 2, retryAt: at + 2_000 };
    const pod: DebugPod = {
      at,
      otherProblems: [{ kind: 'probe', message: 'the probe fails', attempt: 0, help: 'Look at the log.' }],
      scheduler: 'The pod is on n.\n- no more',
      row: row('web', { problem, attempt: 2, sync: 'backing-off', acknowledgedVersion: 1 }),
      reason: 'the last request failed and is tried again',
      differs: ['/phase', '/message'],
      retryAt: at + 2_000,
      node: [['worker', 'sync']],
      timeline: [
        { kind: 'set', at: at - 86_400_000, version: 1, changes: [{ path: '/phase', before: undefined, after: 'Running' }] },
        {
          kind: 'set',
          at,
          version: 2,
          changes: [{ path: '/conditions/0/status', element: 'Ready', before: 'True', after: 'False' }],
        },
        {
          kind: 'request',
          at,
          verb: 'patch',
          result: 'unavailable',
          durationMs: 12,
          body: { status: {} },
          bytes: 13,
          message: 'no',
        },
        { kind: 'request', at, verb: 'get', result: 'ok', durationMs: 1, body: undefined, bytes: undefined, message: undefined },
        { kind: 'error', at, errorClass: 'unavailable', message: 'no', attempt: 2, retryInMs: 2_000 },
        { kind: 'synced', at, version: 2, patched: false, delayMs: 70 },
        { kind: 'refused', at, reason: 'forbidden' },
        { kind: 'removed', at },
      ],
      droppedEntries: 3,
      status: {},
    };
    expect(podPageText(pod)).toBe(
      [
        'pod        default/web',
        'trouble    ! PATCH failed: no. It has failed twice, for 7.0 s. Next try in 2.0 s.',
        'trouble    ! the probe fails. Look at the log.',
        'uid        uid-web',
        'phase      Running, ready, restarts 0, as the agent says',
        'sync       backing-off: the last request failed and is tried again',
        'version    2, the apiserver has 1',
        'differs    /phase /message',
        'failures   2',
        'retry      03:04:07.006Z',
        'scheduler  The pod is on n.',
        'scheduler  - no more',
        '',
        'node worker  sync',
        '',
        '(3 older entries are dropped)',
        '2026-01-01T03:04:05.006Z  set      version 1',
        '    /phase: nothing -> "Running"',
        '03:04:05.006Z  set      version 2',
        '    /conditions/0/status (Ready): "True" -> "False"',
        '03:04:05.006Z  request  PATCH unavailable, took 12 ms, 13 bytes',
        '    no',
        '    {"status":{}}',
        '03:04:05.006Z  request  GET ok, took 1 ms',
        '03:04:05.006Z  error    unavailable, failure 2, next try 03:04:07.006Z',
        '    no',
        '03:04:05.006Z  synced   version 2, 70 ms after it was set, nothing to patch',
        '03:04:05.006Z  refused  forbidden',
        '03:04:05.006Z  removed  that was the last status',
      ].join('\n'),
    );
    const underWay = { method: 'createPod', since: at - 48_000 };
    expect(podPageText({ ...pod, row: row('web', { underWay }), otherProblems: [] })).toMatch(
      /^pod +default\/web\ntrouble +none\nwaits +~ createPod\(\) under way for 48 s\n/,
    );
    expect(podPageText({ ...pod, row: row('web', { isDeleting: true }) })).toMatch(/^pod +default\/web \(deleting\)\n/);
  });
});

describe('plain text', () => {
  it('is not widened by a long cell, of which one row would cost spaces in all others', () => {
    const long = 'x'.repeat(100_000);
    const rows = [['a', long, 'b'], ...Array.from({ length: 1_000 }, () => ['a', 'b', 'c']), ['a', 'b', long]];
    const text = columns(rows);
    expect(text.length).toBeLessThan(600_000);
    expect(text.split('\n').at(-1)).toContain(long);
  });

  it('has no character that a terminal obeys, and no line that is not ours', () => {
    expect(printable('a\u001b[31mb\r\n\u202ec\u0007 \u{e0041}d')).toBe('a[31mb cd'.replace('cd', 'c d'));
    const text = columns([
      ['a\nb', '\u001b[2J'],
      ['', 'x'],
    ]);
    expect(text).toBe('a b  [2J\n-    x');
  });

  it('shows a time that is none as it is', () => {
    expect([timeText(Number.NaN, at), timeText(1e300, Number.NaN), timeText(0, Number.NaN)]).toEqual([
      'NaN',
      '1e+300',
      '1970-01-01T00:00:00.000Z',
    ]);
  });
});
