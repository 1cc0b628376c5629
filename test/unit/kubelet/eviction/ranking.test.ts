import { describe, expect, it } from 'vitest';
import { rankForEviction } from '../../../../src/kubelet/eviction/ranking.ts';
import type { Signal } from '../../../../src/kubelet/eviction/thresholds.ts';
import type { PodUsage } from '../../../../src/kubelet/eviction/usage.ts';
import { podNamed, size, using } from './eviction-harness.ts';

function ranked(signal: Signal, pods: readonly ReturnType<typeof podNamed>[], usages: Record<string, PodUsage>): string[] {
  const layout = { hasDedicatedImagefs: false };
  return rankForEviction(signal, pods, new Map(Object.entries(usages)), layout).map(({ metadata }) => metadata?.name ?? '');
}

describe('who goes first', () => {
  it('is who has most files when inodes run short, whatever storage it asks for', () => {
    const asking = { requests: { 'ephemeral-storage': '10Gi' } };
    const usages = { bomb: using(0, { volumes: { a: size(1, 90_000) } }), innocent: using(0, { volumes: { a: size(1, 5) } }) };
    expect(ranked('nodefs.inodesFree', [podNamed('innocent'), podNamed('bomb', asking)], usages)).toEqual(['bomb', 'innocent']);
  });

  it('counts the overhead as asked for only beside a request', () => {
    const overhead = { overhead: { memory: '100Mi' } };
    const asking = { requests: { memory: '10Mi' } };
    const pods = [podNamed('asks', asking, overhead), podNamed('asks-nothing', {}, overhead)];
    expect(ranked('memory.available', pods, { asks: using(60), 'asks-nothing': using(20) })).toEqual(['asks-nothing', 'asks']);
  });
});
