import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { NodeWorld } from './node-world.ts';

const claimPath = '/api/v1/namespaces/default/persistentvolumeclaims';

it('a pod of an agent without plugins has what it claims, over a restart, and waits while it cannot have it', async () => {
  await using world = await NodeWorld.make();
  const { rootDirectory = '' } = world.agentOptions();
  const disk = join(rootDirectory, '..', 'disk');
  await mkdir(disk, { recursive: true });
  await writeFile(join(disk, 'file'), 'kept');
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const containers = [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent', volumeMounts }];
  world.create('web', { containers, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }] });
  const agent = world.agent();
  await world.through(agent.start());
  await world.pass(3000);
  const why = 'failed to process volumes=[data]: error processing PVC default/disk: failed to fetch PVC from API server';
  expect(agent.explain(world.pod('web')?.metadata?.uid ?? '').problem?.message).toContain(why);
  const claim = { metadata: { name: 'disk', namespace: 'default' }, spec: { volumeName: 'pv-1' } };
  const made = world.objects.answer({ method: 'POST', path: claimPath, body: claim });
  const status = { phase: 'Bound' };
  const contentType = 'application/merge-patch+json';
  world.objects.answer({ method: 'PATCH', path: `${claimPath}/disk/status`, body: { status }, contentType });
  const claimRef = { name: 'disk', namespace: 'default', uid: (made.metadata as { uid: string }).uid };
  const spec = { claimRef, volumeMode: 'Filesystem', accessModes: ['ReadWriteOnce'], local: { path: disk } };
  world.objects.answer({ method: 'POST', path: '/api/v1/persistentvolumes', body: { metadata: { name: 'pv-1' }, spec } });
  // a real program says whether the disk answers: no time of the world ends it
  await until(() => world.pass(10).then(() => world.pod('web')?.status?.phase === 'Running'));
  await world.through(agent.stop());
  const next = world.agent();
  await world.through(next.start());
  world.delete('web', 1);
  await until(() => world.pass(10).then(() => world.pod('web') === undefined));
  await until(() => world.pass(10).then(async () => (await readdir(join(rootDirectory, 'pods'))).length === 0));
  expect(await readdir(disk)).toEqual(['file']);
  await world.through(next.stop());
});
