import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CalmNode } from './calm-node.ts';

const app = { name: 'app', image: 'app:1' };

describe('a pod that cannot run', () => {
  it.each([
    ['a kind of volume that the agent does not have', { volumes: [{ name: 'v', glusterfs: { endpoints: 'e', path: 'p' } }] }],
    ['a claim of a device', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }],
    ['an image that does not exist', { containers: [{ name: 'app', image: 'no-such-image:1' }] }],
    ['a config map that does not exist', { volumes: [{ name: 'v', configMap: { name: 'missing' } }] }],
    ['a runtime class that does not exist', { runtimeClassName: 'missing' }],
    ['a sysctl of the node', { securityContext: { sysctls: [{ name: 'kernel.panic', value: '1' }] } }],
    [
      'a sub path out of its volume',
      { containers: [{ ...app, volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '../..' }] }] },
    ],
  ])('for %s has a reason or an event, harms no other, and goes', async (what, spec) => {
    const node = await CalmNode.open();
    node.begin();
    node.create('good', {});
    const isVolumeNeeded = JSON.stringify(spec).includes('"subPath"');
    const mounted = 'volumes' in spec ? { containers: [{ ...app, volumeMounts: [{ name: 'v', mountPath: '/v' }] }] } : {};
    node.create('bad', { ...mounted, ...(isVolumeNeeded && { volumes: [{ name: 'v', emptyDir: {} }] }), ...spec } as never);
    await node.until(() => node.isRunning('good'));
    await node.advance(180_000);
    const { reason, containerStatuses = [] } = node.pod('bad')?.status ?? {};
    const warnings = node.events('bad').filter((event) => event.startsWith('Warning ') && !event.includes('MissingClusterDNS'));
    expect([what, warnings]).toEqual([what, expect.arrayContaining([expect.stringMatching(/^Warning \w+: ./)])]);
    expect([reason, ...containerStatuses.map(({ state }) => state?.waiting?.reason)]).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\w+$/)]),
    );
    expect(node.isRunning('bad')).toBe(false);
    expect(node.pod('good')?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, ready: true });
    node.create('later', {});
    await node.until(() => node.isRunning('later'), 10_000);
    const uid = node.pod('bad')?.metadata?.uid ?? 'none';
    node.delete('bad');
    await node.until(() => node.pod('bad') === undefined);
    expect(node.ledger.ofPod(uid)).toEqual([]);
    expect(node.wrong).toEqual([]);
  });
});

describe('a folder of manifests', () => {
  it('with hostile ones among good ones runs the good ones', async () => {
    const node = await CalmNode.open({ agent: (folder) => ({ staticPodPath: join(folder, 'manifests') }) });
    const manifests = join(node.folder, 'manifests');
    await mkdir(manifests);
    const pod = (name: string): string =>
      JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec: { containers: [app] } });
    const laughs = Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} [${i === 0 ? 'x' : `*a${i - 1}, *a${i - 1}`}]`).join('\n');
    const hostile = [
      laughs,
      pod('../../etc'),
      '{"kind":"Pod"',
      '['.repeat(100_000),
      pod('proto').replace('"spec"', '"__proto__"'),
      '\0',
    ];
    for (const [i, text] of hostile.entries()) await writeFile(join(manifests, `${i}.yaml`), text);
    await writeFile(join(manifests, 'good.json'), pod('good'));
    node.begin();
    await node.until(() => node.isRunning('good-node-1'));
    await node.advance(60_000);
    expect(node.pods.list()).toHaveLength(1);
    expect(node.wrong).toEqual([]);
  });

  it('of more pods than the node takes fills the node and no more, and a pod of the apiserver lives beside them', async () => {
    const node = await CalmNode.open({ agent: (folder) => ({ staticPodPath: join(folder, 'manifests'), maxPods: 20 }) });
    const manifests = join(node.folder, 'manifests');
    await mkdir(manifests);
    node.begin();
    node.create('web', {});
    await node.until(() => node.isRunning('web'));
    const spec = { containers: [app] };
    for (let i = 0; i < 100; i++) {
      const metadata = { name: `pod-${i}` };
      await writeFile(join(manifests, `${i}.json`), JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, spec }));
    }
    await node.advance(30_000);
    // the pods of files are critical: the node has their twenty, and the one that was there before
    expect([node.ledger.podsWithSandbox().size, node.ledger.running().length]).toEqual([21, 21]);
    expect(node.pod('web')?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, ready: true });
    expect(node.wrong).toEqual([]);
  });
});

describe('a pod with 1 MB of environment', () => {
  it('gets all of it, and its status is no larger than another’s', async () => {
    const node = await CalmNode.open();
    node.begin();
    const env = Array.from({ length: 1000 }, (_, i) => ({ name: `V${i}`, value: 'x'.repeat(1000) }));
    node.create('large', { containers: [{ ...app, env }] });
    await node.until(() => node.isRunning('large'));
    const [run] = node.ledger.running();
    expect(run?.name).toBe('app');
    expect(JSON.stringify(node.pod('large')?.status).length).toBeLessThan(5000);
    expect(node.wrong).toEqual([]);
  });
});

describe('a container that logs without end', () => {
  it('has so many files of so many bytes, and the pod runs on', async () => {
    const node = await CalmNode.open({
      agent: () => ({ containerLogMaxSize: '10Ki', containerLogMaxFiles: 3, containerLogMonitorIntervalMs: 3000 }),
    });
    node.begin();
    const uid = node.create('chatty', {}).metadata?.uid;
    await node.until(() => node.isRunning('chatty'));
    const folder = join(node.folder, 'logs', `default_chatty_${uid}`, 'app');
    await mkdir(folder, { recursive: true });
    const line = `2030-01-01T00:00:00.000000000Z stdout F ${'x'.repeat(1000)}\n`;
    let most = 0;
    for (let i = 0; i < 60; i++) {
      await writeFile(join(folder, '0.log'), line.repeat(8), { flag: 'a' });
      await node.advance(1000);
      const names = await readdir(folder);
      const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
      most = Math.max(
        most,
        sizes.reduce((sum, size) => sum + size, 0),
      );
    }
    const names = await readdir(folder);
    expect(names.length).toBeGreaterThan(1);
    expect(names.length).toBeLessThanOrEqual(4);
    expect(most).toBeLessThan(150_000);
    expect(node.pod('chatty')?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, ready: true });
    expect(node.wrong).toEqual([]);
  });
});
