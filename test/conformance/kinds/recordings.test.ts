import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import type { KindCase } from './case-kind.ts';
import { kinds } from './kinds.ts';
import type { ReplayedKind } from './replayed-kind.ts';
import { agrees, runKind } from './run-kind.ts';
import { leastShare } from './tell-lies.ts';

interface SteppedCase extends KindCase {
  readonly mode?: string;
  readonly steps: readonly { readonly op: string; readonly expect?: { readonly runs?: unknown } }[];
}

function casesOf(kind: string, file = `${kind}-public`): readonly KindCase[] {
  const path = fileURLToPath(new URL(`../${file}.jsonl.gz`, import.meta.url));
  return readCases(path).byKind.get(kind) ?? [];
}

const kindOf = (kind: string): ReplayedKind => kinds.get(kind) as ReplayedKind;

describe('a replay', () => {
  it.each([
    ['backoff', 'backoff-public', 320],
    ['cache', 'cache-public', 500],
    ['claims', 'claims-public', 396],
    ['classic', 'classic-public', 797],
    ['config', 'config-public', 320],
    // written by hand: uids and names that come twice or change, local annotations, pods that are born deleted
    ['config', 'config-more', 38],
    ['deviceSelectors', 'deviceSelectors-public', 400],
    ['devices', 'devices-public', 614],
    ['eviction', 'eviction-public', 298],
    ['extended', 'extended-public', 400],
    ['extendedClaims', 'extendedClaims-public', 400],
    ['extender', 'extender-public', 250],
    ['filterScore', 'filterScore-public', 800],
    ['manifest', 'manifest-public', 997],
    // hostile values for every field, and corners of YAML: at least one manifest for each rule
    ['manifest', 'manifest-more', 3719],
    ['mirror', 'mirror-public', 320],
    ['phase', 'phase-public', 1000],
    ['preempt', 'preempt-public', 800],
    ['probe', 'probe-public', 320],
    ['queue', 'queue-public', 500],
    ['refNames', 'refNames-public', 1000],
    ['refs', 'refs-public', 312],
    ['schedulerConfig', 'schedulerConfig-public', 800],
    ['statuses', 'statuses-public', 1000],
    ['volumes', 'volumes-public', 800],
    ['volumeHints', 'volumeHints-public', 600],
    ['volumesClassic', 'volumesClassic-public', 800],
    ['workers', 'workers-public', 320],
    // a timeout that falls due at the very end of a call, and a static pod that comes again after it had waited
    ['workers', 'workers-more', 2],
  ])('of kind %s finds no difference in %s, and excuses nothing', async (kind, file, count) => {
    const result = await runKind(kind, kindOf(kind), casesOf(kind, file));
    expect(result).toMatchObject({ cases: count, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  const lies = {
    ...{
      backoff: 1600,
      cache: 2500,
      claims: 1980,
      classic: 3985,
      config: 1600,
      deviceSelectors: 2000,
      devices: 3070,
      eviction: 1245,
      extended: 2000,
      extendedClaims: 2000,
      extender: 1250,
      filterScore: 4000,
      manifest: 4985,
      mirror: 1600,
      phase: 5000,
    },
    ...{
      preempt: 4000,
      probe: 1580,
      queue: 2500,
      refNames: 5000,
      refs: 1550,
      schedulerConfig: 4000,
      statuses: 5000,
      volumeHints: 3000,
      volumes: 4000,
      volumesClassic: 4000,
      workers: 1600,
    },
  };
  it.each(Object.entries(lies))('of kind %s finds a recording that is falsified in one place, %i times', async (kind, count) => {
    const { told, shareFound, missed } = await kindOf(kind).tellLies(casesOf(kind));
    expect(told).toBe(count);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('is told lies of every kind', () => {
    expect(Object.keys(lies)).toEqual([...kinds.keys()].sort());
  });

  it.each<[kind: string, op: string, of?: (recorded: SteppedCase) => boolean]>([
    ['backoff', 'try'],
    ['cache', 'forget'],
    ['config', 'set'],
    ['mirror', 'create'],
    ['probe', 'add', ({ steps }) => steps.some((step) => step.expect?.runs !== undefined)],
    ['queue', 'pop'],
    ['refs', 'register', ({ mode }) => mode === 'watch'],
    ['workers', 'update'],
  ])('of kind %s finds a step that was left out: %s', async (kind, op, of = () => true) => {
    const recorded = (casesOf(kind) as readonly SteppedCase[]).find(of) as SteppedCase;
    const given: SteppedCase = { ...recorded, steps: recorded.steps.filter((step) => step.op !== op) };
    expect(await kindOf(kind).compare(recorded, given)).not.toEqual([]);
  });
});
