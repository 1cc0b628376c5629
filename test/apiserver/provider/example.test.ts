import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { tempDir } from '../../support/temp-dir.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const example = fileURLToPath(new URL('../../../examples/provider-node.ts', import.meta.url));

describe('examples/provider-node.ts', () => {
  it('is a node, runs a pod, deletes it, and leaves nothing behind', async () => {
    const file = join(await tempDir(), 'kubeconfig');
    await writeFile(file, server.kubeConfig().exportConfig(), { mode: 0o600 });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [example, file]);
    expect(stdout).toBe('The pod is ready, on 1 machine.\nIt was deleted, and its machine is free.\n');
    expect(stderr).toBe('');
    const { body } = await server.admin.send('GET', '/api/v1/nodes');
    const names = (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name.startsWith('virtual-'))).toEqual([]);
  });
});
