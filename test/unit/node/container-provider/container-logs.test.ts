import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ConnectedProvider } from './connected-provider.ts';

it('is what the run has written; a run that writes nothing has an empty one', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin();
  expect(await world.log(pod)).toBe('');
  Readable.from(['one\n', 'two\n']).pipe(world.run.stdout);
  world.run.stderr.write('oh\n');
  await settle();
  expect(await world.log(pod)).toBe('oh\none\ntwo\n');
});

it('of a container that has not begun is refused in a kubelet’s words, and so is one that is not there', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin('web', { initContainers: [{ name: 'init', image: 'init:1' }] });
  const refused = (message: string, status = 400) => ({ code: 'ERR_KUBELET_API', status, message });
  await expect(world.log(pod)).rejects.toMatchObject(
    refused('container "app" in pod "web" is waiting to start: PodInitializing'),
  );
  await expect(world.log(pod, { previous: true }, 'init')).rejects.toMatchObject(
    refused('previous terminated container "init" in pod "web" not found'),
  );
  await expect(world.log(pod, {}, 'other')).rejects.toMatchObject(refused('container "other" not found in pod "web"', 404));
  const gone = { ...pod, metadata: { ...pod.metadata, uid: 'other' } };
  await expect(world.log(gone)).rejects.toMatchObject(refused('pod "web" does not run in this process', 404));
});

it('of the run before is the previous one, already while the next run waits; older ones are gone', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin();
  for (const name of ['one', 'two']) {
    world.run.stdout.write(`run ${name}`);
    await world.exit(1);
  }
  expect([await world.log(pod), await world.log(pod, { previous: true })]).toEqual(['run two\n', 'run two\n']);
  await world.clock.advance(60_000);
  world.run.stdout.write('run three\n');
  expect([await world.log(pod), await world.log(pod, { previous: true })]).toEqual(['run three\n', 'run two\n']);
});

it('is followed until the run has ended, also where the container runs again at once', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin();
  const followed = world.log(pod, { follow: true });
  await settle();
  world.run.stdout.write('last words');
  await world.exit(1);
  world.run.stdout.write('of the next run');
  expect(await followed).toBe('last words\n');
});

it('is followed to its end when the pod is deleted, and gone with it', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin();
  const followed = world.log(pod, { follow: true });
  await settle();
  world.run.stop.addEventListener('abort', () => {
    world.run.stdout.write('good bye\n');
    world.run.exit(0);
  });
  await world.provider.deletePod(pod, { gracePeriodSeconds: 5 });
  expect(await followed).toBe('good bye\n');
  await expect(world.log(pod)).rejects.toThrow('does not run in this process');
});

it('takes no more of a run that has been reported as ended', async () => {
  await using world = new ConnectedProvider();
  const pod = await world.begin('web', { restartPolicy: 'Never' });
  const { run } = world;
  run.stdout.write('in time\n');
  await world.exit(0);
  expect(run.stdout.write('late\n')).toBe(true);
  expect(await world.log(pod)).toBe('in time\n');
  await expect(world.log(pod, { previous: true })).rejects.toThrow('previous terminated container "app" in pod "web" not found');
});

it('is bounded by the option', async () => {
  await using world = new ConnectedProvider({ logs: { maxBytesPerRun: 65_536, maxTotalBytes: 65_536 } });
  const pod = await world.begin();
  for (let line = 0; line < 20_000; line += 1) world.run.stdout.write(`line ${line}\n`);
  const log = await world.log(pod);
  expect(log.length).toBeLessThan(65_536);
  expect(log).toMatch(/\nline 19999\n$/);
});
