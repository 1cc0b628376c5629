import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CalmNode } from './calm-node.ts';

const manifest = (image: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec: { containers: [{ name: app, image: "${image}" }], terminationGracePeriodSeconds: 1 }\n`;

/** A node whose agents read manifests from a folder of their own. */
async function nodeWithFolder() {
  const node = await CalmNode.open({ agent: (folder) => ({ staticPodPath: join(folder, 'manifests') }) });
  const manifests = join(node.folder, 'manifests');
  await mkdir(manifests);
  const started = (): string[] => {
    const starts = node.runtime.history.filter(({ type, what }) => type === 'started' && what === 'container');
    return starts.map(({ name, podUID }) => `${name} of ${podUID}`);
  };
  return { node, manifests, started };
}

describe('a static pod of a whole node agent', () => {
  it('runs with a mirror pod, follows its file, stays over a restart and a crash of the agent, and goes with its file', async () => {
    const { node, manifests, started } = await nodeWithFolder();
    node.begin();
    await node.advance(1000);
    const file = join(manifests, 'web.yaml');
    await writeFile(file, manifest('app:1'));
    await node.until(() => node.isRunning('web-node-1'));
    const first = node.pod('web-node-1');
    expect(first?.metadata?.annotations).toMatchObject({ 'kubernetes.io/config.source': 'file' });
    expect(started()).toHaveLength(1);

    await node.stop();
    await node.advance(5000);
    node.begin();
    await node.advance(60_000);
    node.crash();
    node.begin();
    await node.advance(60_000);
    expect(node.pod('web-node-1')?.metadata?.uid).toBe(first?.metadata?.uid);
    expect(node.isRunning('web-node-1')).toBe(true);
    expect(started()).toHaveLength(1);

    await writeFile(file, manifest('app:2'));
    await node.until(() => started().length === 2 && node.isRunning('web-node-1'));
    await node.until(() => node.pod('web-node-1')?.metadata?.uid !== first?.metadata?.uid);
    expect(node.pod('web-node-1')?.spec?.containers[0]?.image).toBe('app:2');
    expect(new Set(started()).size).toBe(2);

    await rm(file);
    await node.until(() => node.pod('web-node-1') === undefined);
    await node.advance(130_000);
    expect([await node.left(), node.wrong]).toEqual([[], []]);
  });

  it('goes when its file went while no agent ran', async () => {
    const { node, manifests } = await nodeWithFolder();
    const file = join(manifests, 'web.yaml');
    await writeFile(file, manifest('app:1'));
    node.begin();
    await node.until(() => node.isRunning('web-node-1'));
    node.crash();
    await rm(file);
    node.begin();
    await node.until(() => node.pod('web-node-1') === undefined);
    await node.advance(130_000);
    expect([await node.left(), node.wrong]).toEqual([[], []]);
  });

  it('runs on when somebody deletes its mirror pod, which comes back', async () => {
    const { node, manifests, started } = await nodeWithFolder();
    await writeFile(join(manifests, 'web.yaml'), manifest('app:1'));
    node.begin();
    await node.until(() => node.isRunning('web-node-1'));
    const uid = node.pod('web-node-1')?.metadata?.uid;
    node.delete('web-node-1');
    await node.until(() => node.pod('web-node-1')?.metadata?.uid !== uid && node.isRunning('web-node-1'));
    expect(started()).toHaveLength(1);
    expect(node.wrong).toEqual([]);
  });
});
