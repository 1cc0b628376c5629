import { expect, it } from 'vitest';
import { MountTurns } from '../../../../src/kubelet/volumes/mount-turns.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { driver, setUp } from '../csi/csi-world.ts';
import { never, podWith } from '../volumes/volumes-world.ts';

it('mounts that hang hold one turn of each driver and two of all, and who waits may leave', async () => {
  const turns = new MountTurns();
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
