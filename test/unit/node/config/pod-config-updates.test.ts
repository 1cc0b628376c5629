import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { PodConfig, type PodUpdate } from '../../../../src/node.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { Prng } from '../../../random/chaos/prng.ts';
import { nameOf, podNamed, shown, taken, takenUpdates } from './config-pods.ts';

describe('the updates of a PodConfig', () => {
  it('come to one consumer, which another one may follow', async () => {
    const config = new PodConfig();
    const send = config.channel('file');
    const first = config.updates();
    expect(() => config.updates()).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_STARTED' }));
    const waiting = [first.next(), first.next()];
    send([podNamed('a')]);
    send([podNamed('a'), podNamed('b')]);
    send([podNamed('b')]);
    expect((await Promise.all(waiting)).map(({ value }) => value && shown(value))).toEqual(['file ADD a', 'file ADD b']);
    await first.return?.();
    expect(await first.next()).toEqual({ done: true, value: undefined });
    expect(await taken(config)).toEqual(['file REMOVE a']);
  });

  it('wait in bounds for a consumer that has stopped: the newest list of each source is merged when there is room', async () => {
    const config = new PodConfig({ capacity: 5 });
    const [file, http] = [config.channel('file'), config.channel('http')];
    for (let i = 1; i <= 1000; i += 1) {
      file([podNamed(`f${i}`), podNamed('kept', { image: `app:${i}` })]);
      http([podNamed(`h${i}`)]);
    }
    expect([config.hasSeen('file'), config.hasSeen('http')]).toEqual([true, false]);
    const updates = await takenUpdates(config);
    const told = ['file ADD f1 kept', 'http ADD h1000', 'file REMOVE f1', 'file ADD f1000', 'file UPDATE kept'];
    expect(updates.map(shown)).toEqual(told);
    expect(updates.find(({ op }) => op === 'UPDATE')?.pods[0]?.spec?.containers[0]?.image).toBe('app:1000');
  });

  it('keep a list as it was when it was sent', async () => {
    const config = new PodConfig({ capacity: 5 });
    const send = config.channel('file');
    send([podNamed('a')]);
    const list = [podNamed('a'), podNamed('b')];
    send(list);
    list.length = 0;
    expect(await taken(config)).toEqual(['file ADD a', 'file ADD b']);
  });

  it('make each source’s pods what its newest list says, whenever the consumer reads', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const prng = new Prng(seed);
      const config = new PodConfig({ capacity: prng.int(5, 12) });
      const newest = new Map<string, Pod[]>();
      const follower = new Follower();
      const reader = config.updates();
      for (let step = 0; step < 60; step += 1) {
        const source = prng.pick(['file', 'http', 'api']) ?? 'file';
        const names = ['a', 'b', 'c', 'd', 'e'].filter(() => prng.chance(0.6));
        newest.set(
          source,
          names.map((name) => podNamed(name, { image: `app:${prng.int(1, 3)}`, phase: prng.pick(['Pending', 'Running']) ?? '' })),
        );
        config.channel(source)(newest.get(source) ?? []);
        // a consumer that stops for long, then takes a few
        if (prng.chance(0.1)) for (let i = prng.int(1, 8); i > 0; i -= 1) await follower.take(reader);
      }
      await follower.takeAll(reader);
      for (const [source, pods] of newest) expect([seed, source, follower.view(source)]).toEqual([seed, source, viewOf(pods)]);
      expect(follower.mistakes).toEqual([]);
    }
  });
});

type View = Record<string, [image: string | undefined, phase: string | undefined]>;

function viewOf(pods: readonly Pod[]): View {
  const entries = pods.map((pod): [string, [string | undefined, string | undefined]] => [
    nameOf(pod),
    [pod.spec?.containers[0]?.image, pod.status?.phase],
  ]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What a consumer knows that believes the updates and nothing else. */
class Follower {
  readonly mistakes: string[] = [];
  readonly #sources = new Map<string, Map<string, Pod>>();

  async take(reader: AsyncIterator<PodUpdate, undefined>): Promise<boolean> {
    let isThere = false;
    const next = reader.next().then(({ value }) => {
      if (value === undefined) return;
      this.#apply(value);
      isThere = true;
    });
    await settle(1);
    if (isThere) await next;
    return isThere;
  }

  async takeAll(reader: AsyncIterator<PodUpdate, undefined>): Promise<void> {
    while (await this.take(reader));
  }

  view(source: string): View {
    return viewOf([...(this.#sources.get(source)?.values() ?? [])]);
  }

  #apply({ source, op, pods }: PodUpdate): void {
    const known = this.#sources.get(source) ?? new Map<string, Pod>();
    this.#sources.set(source, known);
    for (const pod of pods) {
      const uid = pod.metadata?.uid ?? '';
      if (known.has(uid) === (op === 'ADD')) this.mistakes.push(`${source} ${op} ${uid}`);
      if (op === 'REMOVE') known.delete(uid);
      else known.set(uid, pod);
    }
  }
}
