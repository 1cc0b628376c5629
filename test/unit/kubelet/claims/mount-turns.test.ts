import { expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ProgramFailure } from '../../../../src/base/run-program.ts';
import { MountTurns } from '../../../../src/kubelet/claims/mount-turns.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { driver, setUp } from '../csi/csi-world.ts';
import { never, podWith } from '../volumes/volumes-world.ts';

it('mounts that hang hold one turn of each driver and two of all, and who waits may leave', async () => {
  const turns = new MountTurns({ clock: safeClock(new FakeClock()), logger: silentLogger });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const call = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.set(name, resolve));
  };
  const leaving = new AbortController();
  const first = turns.run('a.example', call('a1'), never);
  const second = turns.run('a.example', call('a2'), leaving.signal);
  const third = turns.run('b.example', call('b1'), never);
  const fourth = turns.run('c.example', call('c1'), never);
  await settle();
  expect(begun).toEqual(['a1', 'b1']);
  leaving.abort(new Error('it ends'));
  await expect(second).rejects.toThrow('it ends');
  ends.get('b1')?.();
  await third;
  await settle();
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  for (const end of ends.values()) end();
  await Promise.all([first, fourth]);
});

it('so many calls go on at once as is said', async () => {
  const turns = new MountTurns({ clock: safeClock(new FakeClock()), mostOverall: 1, logger: silentLogger });
  const end = Promise.withResolvers<void>();
  const first = turns.run('a.example', () => end.promise, never);
  const begun: string[] = [];
  const second = turns.run('b.example', async () => void begun.push('b1'), never);
  await settle();
  expect(begun).toEqual([]);
  end.resolve();
  await Promise.all([first, second]);
  expect(begun).toEqual(['b1']);
});

it('a volume whose files hang holds up no end of another pod', async () => {
  const test = await setUp();
  const asked: string[] = [];
  const answer = Promise.withResolvers<void>();
  test.mounter.changeOwner = (path) => {
    asked.push(path);
    return answer.promise;
  };
  const podOfUID = (uid: string) => podWith([{ name: 'data', csi: { driver } }], { securityContext: { fsGroup: 77 } }, { uid });
  const hanging = test.manager.mountVolumes(podOfUID('u1'), never);
  await until(() => asked.length === 1);
  const ending = new AbortController();
  const waiting = test.manager.mountVolumes(podOfUID('u2'), ending.signal);
  await until(() => test.published.length === 2);
  await settle();
  expect(asked).toHaveLength(1);
  ending.abort(new Error('it ends'));
  await expect(waiting).rejects.toThrow('it ends');
  await test.manager.unmountVolumes('u2');
  expect(test.unpublished).toHaveLength(1);
  answer.resolve();
  await hanging;
});

it('a mount that does not answer takes no turn, and is asked again only after a wait that grows', async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const hanging = new Set(['/a', '/b']);
  const ask = (folder: string) => {
    asked.push(folder);
    return hanging.has(folder) ? new Promise<never>(() => {}) : Promise.resolve();
  };
  const turns = new MountTurns({ clock: safeClock(clock), ask, logger: silentLogger });
  const enter = async (folder: string): Promise<string> => {
    await turns.requireAnswer(folder, never);
    return turns.run(folder, async () => `in ${folder}`, never);
  };
  const wordsOf = (entering: Promise<unknown>): Promise<unknown> => entering.catch((error: unknown) => String(error));
  const waiting = [enter('/a'), enter('/b'), enter('/a')].map(wordsOf);
  expect(await enter('/c')).toBe('in /c');
  await clock.advance(10_000);
  const words = "MountHangs: it does not answer: it took longer than 10 s; it is asked again 10 s later, at the pod's next sync";
  expect(await Promise.all(waiting)).toEqual([words, words, words]);
  await clock.advance(9999);
  expect(await wordsOf(enter('/a'))).toBe(words);
  expect(asked).toEqual(['/a', '/b', '/c']);
  await clock.advance(1);
  const again = wordsOf(enter('/a'));
  await clock.advance(10_000);
  expect(await again).toBe(words.replace('again 10 s', 'again 20 s'));
  hanging.delete('/a');
  await clock.advance(20_000);
  expect([await enter('/a'), await enter('/a')]).toEqual(['in /a', 'in /a']);
  await clock.advance(2000);
  expect(await enter('/a')).toBe('in /a');
  expect(asked).toEqual(['/a', '/b', '/c', '/a', '/a', '/a']);
});

it('whatever a program has heard of a mount is an answer, but that it could not be started', async () => {
  const failures: Record<string, string | undefined> = { '/gone': undefined, '/unasked': 'EAGAIN' };
  const ask = async (folder: string) => {
    throw new ProgramFailure('stat failed', { text: '', isCut: false }, failures[folder]);
  };
  const turns = new MountTurns({ clock: safeClock(new FakeClock()), ask, logger: silentLogger });
  await turns.requireAnswer('/gone', never);
  const unasked = { name: 'Error', message: 'nobody could ask whether it answers: stat failed' };
  await expect(turns.requireAnswer('/unasked', never)).rejects.toMatchObject(unasked);
  // it is no hang: nobody waits before the next question
  failures['/unasked'] = undefined;
  await turns.requireAnswer('/unasked', never);
  await new MountTurns({ clock: safeClock(new FakeClock()), logger: silentLogger }).requireAnswer('/no/such/folder', never);
});

it('who waits for mounts that hang hears so after a minute, the log alone says which they are, and a call that hangs keeps its turn', async () => {
  const clock = new FakeClock();
  const warned: object[] = [];
  const logger = { warn: (fields: object) => void warned.push(fields) };
  const turns = new MountTurns({ clock: safeClock(clock), ask: async () => {}, logger });
  const ends: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const call = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const wordsOf = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => String(error));
  const hanging = [turns.run('pv-1', call, never), turns.run('pv-2', call, never)].map(wordsOf);
  await clock.advance(5000);
  const waiting = wordsOf(turns.run('pv-3', async () => 'done', never));
  await clock.advance(60_000);
  expect(await waiting).toBe(
    "MountHangs: no turn came for 60 s: calls in other volumes of this node hold the turns; the agent's log names them",
  );
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  await clock.advance(25_000);
  const late = (name: string) => `MountHangs: a call in ${name} has not ended for 90 s; what is mounted there hangs`;
  expect(await Promise.all(hanging)).toEqual([late('pv-1'), late('pv-2')]);
  expect(warned).toEqual(['pv-1', 'pv-2'].map((name) => ({ name, durationMs: 65_000 })));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  const next = turns.run('pv-3', async () => 'done', never);
  await settle();
  expect(clock.pendingTimers).toBe(1);
  ends[0]?.();
  expect(await next).toBe('done');
  expect(clock.pendingTimers).toBe(0);
});
