import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { playQueue } from './play-queue.ts';
import { type QueueCase, type QueueOutcome, queueCaseProblem } from './queue-case.ts';
import { queueKind, type SteppedQueueCase, stepped } from './queue-kind.ts';

const file = fileURLToPath(new URL('../queue-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('queue') ?? []) as readonly QueueCase[];

describe('replay of how pods go through the queue of kube-scheduler', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('queue', queueKind, cases);
    expect(result).toMatchObject({ cases: 500, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies<SteppedQueueCase, QueueOutcome[]>(cases.map(stepped), {
      play: playQueue,
      falsify: falsifyExpect,
      judge: judgeSteps,
    });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const [original] = cases;
    const played = await playQueue({ ...(original as QueueCase), steps: original?.steps.filter(({ op }) => op !== 'pop') ?? [] });
    expect(judgeSteps(stepped(original as QueueCase), played)).not.toEqual([]);
  });
});

describe('a line of kind queue', () => {
  it.each([
    [{ kind: 'queue', name: 'a' }, 'a queue case without steps'],
    [{ kind: 'queue', name: 'a', steps: [{ op: 'pop' }], out: [] }, 'a queue case without an outcome for each step'],
    [{ kind: 'queue', name: 'a', steps: [{ op: 'push' }], out: [{}] }, 'step 0: unknown operation "push"'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(queueCaseProblem(value)).toBe(problem);
  });
});
