import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { PodConfig } from '../../../../src/node.ts';
import { podNamed, taken, takenUpdates } from './config-pods.ts';

const deleted = { deletionTimestamp: '2000-01-01T00:00:00Z' } as unknown as NonNullable<WirePod['metadata']>;
const [a, b, c] = [podNamed('a'), podNamed('b'), podNamed('c')];

/** What the lists of one source lead to, each alone; another source has the pod `x`. */
async function toldOf(mode: 'SnapshotAndUpdates' | 'Snapshot', ...lists: WirePod[][]): Promise<string[][]> {
  const config = new PodConfig({ mode });
  config.channel('http')([podNamed('x')]);
  expect(await taken(config)).toEqual(['http SET x']);
  const told: string[][] = [];
  for (const list of lists) {
    config.channel('file')(list);
    told.push(await taken(config));
  }
  return told;
}

describe('mode SnapshotAndUpdates', () => {
  it('tells the pods of all sources when pods came or went, and changes as updates', async () => {
    const lists = [[a, b], [a, podNamed('b', { image: 'app:2' })], [podNamed('a', { metadata: deleted }), c], [c]];
    expect(await toldOf('SnapshotAndUpdates', ...lists)).toEqual([
      ['file SET x a b'],
      ['file UPDATE b'],
      ['file SET x a c', 'file DELETE a'],
      ['file SET x c'],
    ]);
  });

  it('says nothing of a status alone, nor of the same list again', async () => {
    expect(
      await toldOf('SnapshotAndUpdates', [a], [podNamed('a', { phase: 'Running' })], [podNamed('a', { phase: 'Running' })]),
    ).toEqual([['file SET x a'], [], []]);
  });
});

describe('mode Snapshot', () => {
  it('tells the pods of all sources after every change but one of a status alone', async () => {
    const changed = podNamed('a', { image: 'app:2' });
    const lists = [
      [],
      [a],
      [podNamed('a', { phase: 'Running' })],
      [changed],
      [{ ...changed, metadata: { ...changed.metadata, ...deleted } }],
      [],
    ];
    expect(await toldOf('Snapshot', ...lists)).toEqual([
      ['file SET x'],
      ['file SET x a'],
      [],
      ['file SET x a'],
      ['file SET x a'],
      ['file SET x'],
    ]);
  });

  it('has the newest status in its next SET', async () => {
    const config = new PodConfig({ mode: 'Snapshot' });
    const send = config.channel('file');
    send([a]);
    send([podNamed('a', { phase: 'Running' })]);
    send([podNamed('a', { phase: 'Running' }), b]);
    const updates = await takenUpdates(config);
    expect(updates.map(({ pods }) => pods.map(({ status }) => status?.phase))).toEqual([['Pending'], ['Running', 'Pending']]);
  });
});
