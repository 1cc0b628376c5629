import { expect, it } from 'vitest';
import { settlesUnlessStill } from '../../../../src/base/concurrency/standstill.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

const world = () => {
  const clock = new FakeClock();
  const machine = new FakeClock();
  const work = Promise.withResolvers<void>();
  const seen: boolean[] = [];
  void settlesUnlessStill(work.promise, clock, machine).then((hasSettled) => seen.push(hasSettled));
  return { clock, machine, work, seen };
};

it('gives up on a clock that has not moved for a second', async () => {
  const { machine, work, seen } = world();
  await machine.advance(999);
  expect(seen).toEqual([]);
  await machine.advance(1);
  expect([seen, machine.pendingTimers]).toEqual([[false], 0]);
  work.reject(new Error('nobody waits any more'));
  await settle();
});

it('goes on while the clock moves, in whatever direction and however slowly', async () => {
  const { clock, machine, work, seen } = world();
  for (let i = 0; i < 20; i++) {
    if (i % 3 === 0) clock.jump(i % 2 === 0 ? 1 : -1);
    await machine.advance(250);
  }
  expect(seen).toEqual([]);
  work.resolve();
  await settle();
  expect([seen, machine.pendingTimers]).toEqual([[true], 0]);
});

it('counts work that fails as settled, and leaves no timer', async () => {
  const { machine, work, seen } = world();
  work.reject(new Error('failed'));
  await settle();
  expect([seen, machine.pendingTimers]).toEqual([[true], 0]);
});

it('does not give up where the process alone has stood still', async () => {
  const { clock, machine, seen } = world();
  // one late look stands for all that were due
  await machine.advance(250);
  clock.jump(1);
  await machine.advance(750);
  expect(seen).toEqual([]);
});
