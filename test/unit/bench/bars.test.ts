import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { barsOf as barsOfCpu, type CpuResult } from '../../../bench/cpu/bars.ts';
import { barsOfVirtualNodes, barsOfWorkers } from '../../../bench/node/bars.ts';
import { barsOf as barsOfScheduler } from '../../../bench/scheduler-cluster/bars.ts';
import type { Load, SchedulerRun } from '../../../bench/scheduler-cluster/run.ts';
import { type Bar, printBars } from '../../../bench/support/results.ts';
import { barsOf as barsOfVirtualKubelet } from '../../../bench/virtual-kubelet/bars.ts';
import type { NodeRun } from '../../../bench/virtual-kubelet/run.ts';

const exitCodeBefore = process.exitCode;
beforeEach(() => {
  process.exitCode = 0;
});
afterEach(() => {
  process.exitCode = exitCodeBefore;
  vi.restoreAllMocks();
});

/** What a run with these bars says of each, and the code with which it ends. */
function outcomeOf(bars: readonly Bar[]): { met: string[]; exitCode: typeof process.exitCode } {
  const table = vi.spyOn(console, 'table').mockReturnValue();
  printBars(bars);
  const rows = table.mock.calls[0]?.[0] as { met: string }[];
  return { met: rows.map(({ met }) => met), exitCode: process.exitCode };
}

async function committed<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(`../../../bench/results/${name}`, import.meta.url), 'utf8')) as T;
}

describe('a benchmark', () => {
  const met: Bar = { what: 'met', value: 1, atMost: 1 };
  const missed: Bar = { what: 'missed', value: 0.9, atLeast: 1 };
  const knownMissed = 'it is slow';

  it.each([
    ['meets its bars', met, 'yes', 0],
    ['misses a bar', missed, 'NO', 1],
    ['misses a bar that is known to be missed', { ...missed, knownMissed }, 'no, as is known: it is slow', 0],
    ['meets a bar that is known to be missed', { ...met, knownMissed }, 'yes, but it is listed as known to be missed', 0],
    ['did not measure a bar that is known to be missed', { ...missed, value: Number.NaN, knownMissed }, 'NO', 1],
  ])('that %s says so, and ends with the right code', (_, bar, said, exitCode) => {
    expect(outcomeOf([bar])).toEqual({ met: [said], exitCode });
  });

  it('ends with 1 also when its other bars are met', () => {
    expect(outcomeOf([missed, met])).toEqual({ met: ['NO', 'yes'], exitCode: 1 });
  });
});

describe('the committed figures miss what is known to be missed, and nothing else:', () => {
  function expectKnown(bars: readonly Bar[], file: readonly Bar[]): void {
    expect(bars.map(({ knownMissed, ...bar }) => bar)).toEqual(file.map(({ knownMissed, ...bar }) => bar));
    const { met, exitCode } = outcomeOf(bars);
    expect(exitCode).toBe(0);
    expect(met.filter((said) => said.startsWith('yes,'))).toEqual([]);
  }

  it('cpu', async () => {
    const result = await committed<CpuResult & { bars: Bar[] }>('cpu.json');
    expectKnown(barsOfCpu(result), result.bars);
  });

  it('node', async () => {
    type Runs = {
      workers: { runs: Parameters<typeof barsOfWorkers>[0] };
      virtualNodes: { runs: Parameters<typeof barsOfVirtualNodes>[0] };
    };
    const { workers, virtualNodes, bars } = await committed<Runs & { bars: Bar[] }>('node.json');
    expectKnown([...barsOfWorkers(workers.runs), ...barsOfVirtualNodes(virtualNodes.runs)], bars);
  });

  it('scheduler-cluster', async () => {
    type Runs = Record<string, Record<'ours' | 'kubeScheduler', SchedulerRun>>;
    const { loads, result, bars } = await committed<{ loads: Record<string, Load>; result: Runs; bars: Bar[] }>(
      'scheduler-cluster.json',
    );
    const found = Object.entries(result).flatMap(([name, { ours, kubeScheduler }]) =>
      barsOfScheduler(name, loads[name] as Load, ours, kubeScheduler),
    );
    expectKnown(found, bars);
  });

  it.each(['cluster.json', 'metrics.json', 'parts.json', 'scheduler.json'])('%s', async (name) => {
    const { bars } = await committed<{ bars: Bar[] }>(name);
    expectKnown(bars, bars);
  });

  it('virtual-kubelet', async () => {
    const { runs, bars } = await committed<{ runs: Record<'ours' | 'rival', NodeRun>; bars: Bar[] }>('virtual-kubelet.json');
    expectKnown(barsOfVirtualKubelet(runs.ours, runs.rival), bars);
  });
});
