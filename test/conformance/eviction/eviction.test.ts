import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { readCases } from '../replay/read-cases.ts';
import { type EvictionCase, evictionCaseProblem } from './eviction-case.ts';
import { playEviction } from './play-eviction.ts';

const file = fileURLToPath(new URL('../eviction-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('eviction') ?? []) as readonly EvictionCase[];

/** How many cases come out otherwise when the configuration is another one. */
async function noticed(change: (config: EvictionCase['config']) => Partial<EvictionCase['config']>): Promise<number> {
  let different = 0;
  for (const one of cases) {
    const played = await playEviction({ ...one, config: { ...one.config, ...change(one.config) } });
    if (judgeSteps(one, played).length > 0) different += 1;
  }
  return different;
}

describe('replay of the kubelet’s eviction manager', () => {
  it('has cases of every resource, of hard and soft thresholds, and of each way to go', () => {
    const killed = cases.flatMap(({ steps }) => steps.flatMap(({ expect: told }) => told.killed ?? []));
    const messages = killed.map(({ status }) => String(status.message));
    for (const words of ['resource: memory', 'ephemeral-storage', 'resource: inodes', 'resource: pids', 'EmptyDir volume']) {
      expect(messages.filter((message) => message.includes(words)).length, words).toBeGreaterThan(20);
    }
    expect(killed.filter(({ gracePeriodSeconds }) => gracePeriodSeconds !== 1).length).toBeGreaterThan(20);
    const steps = cases.flatMap((one) => one.steps);
    expect(steps.filter(({ expect: told }) => told.reclaimed !== undefined).length).toBeGreaterThan(50);
    expect(cases.filter((one) => one.steps[0]?.expect.refused).length).toBeGreaterThan(10);
  });

  it('notices a setting that is not heeded', async () => {
    expect(await noticed(() => ({ evictionMinimumReclaim: {} }))).toBeGreaterThan(5);
    expect(await noticed(({ softGraceSeconds = {} }) => ({ softGraceSeconds: halved(softGraceSeconds) }))).toBeGreaterThan(5);
    expect(await noticed(({ allocatable }) => ({ allocatable: !allocatable }))).toBeGreaterThan(5);
    expect(await noticed(() => ({ maxPodGraceSeconds: 7 }))).toBeGreaterThan(5);
    expect(await noticed(() => ({ transitionSeconds: 5 }))).toBeGreaterThan(5);
    expect(await noticed(({ dedicatedImagefs }) => ({ dedicatedImagefs: !dedicatedImagefs }))).toBeGreaterThan(5);
    expect(await noticed(({ splitContainerfs }) => ({ splitContainerfs: !splitContainerfs }))).toBeGreaterThan(5);
    expect(await noticed(() => ({ localStorageCapacityIsolation: false }))).toBeGreaterThan(5);
  });
});

function halved(seconds: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(seconds).map(([signal, value]) => [signal, Math.floor(value / 2)]));
}

describe('a line of kind eviction', () => {
  it.each([
    [{}, 'an eviction case without a configuration'],
    [{ config: {} }, 'an eviction case without steps'],
    [{ config: {}, steps: [{ op: 'wait', expect: {} }] }, 'step 0: unknown operation "wait"'],
    [{ config: {}, steps: [{ op: 'admit', expect: {} }] }, 'step 0: no pod'],
    [{ config: {}, steps: [{ op: 'look' }] }, 'step 0: no expectation'],
    [{ config: {}, steps: [{ op: 'look', expect: {} }] }, undefined],
  ])('is refused when it cannot be played: %j', (members, problem) => {
    expect(evictionCaseProblem({ kind: 'eviction', name: 'a', ...members })).toBe(problem);
  });
});
