import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { tempDir } from '../../support/temp-dir.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** What each example prints on any server. */
const printed: Readonly<Record<string, RegExp>> = {
  'custom-pod-client.ts': /^The apiserver says Running\.\n$/,
  'graceful-shutdown.ts': /^Set last: update \d+\. On the apiserver: 100 of 100 pods\.\n$/,
  'many-nodes.ts': /^3 nodes are registered\.\n(A node runs 2 pods\.\n){3}All pods are deleted\.\n$/,
  'minimal.ts': /^The apiserver says Running, after 1 write\.\n$/,
  'prometheus.ts': new RegExp(
    [
      '^pod_status_manager_pods\\{phase="in-sync",node="my-node"\\} 1',
      'pod_status_manager_requests_total\\{verb="patch",result="ok",node="my-node"\\} 1',
      'pod_status_manager_syncs_total\\{outcome="patched",node="my-node"\\} 1\n$',
    ].join('\n'),
  ),
  'provider-node.ts': /^The pod is ready, on 1 machine\.\nIt was deleted, and its machine is free\.\n$/,
  'scheduler-policy.ts': new RegExp(
    [
      '^web goes to fast\\.',
      'api goes to old\\.',
      "job waits: 0/4 nodes are available: 1 node\\(s\\) belonged to team b, 1 node\\(s\\) didn't have the requested labels, .*",
      'guest goes to theirs\\.',
      "job waits: 0/4 nodes are available: 1 node\\(s\\) didn't have the requested labels, 3 Insufficient cpu\\. .*\n$",
    ].join('\n'),
  ),
  'secrets.ts': /^The password is first\.\nIt has become second\.\nThe pod is gone, and nobody else needs the secret\.\n$/,
  'static-pods.ts': /^A mirror pod was created\.\nA mirror pod was created\.\nThe apiserver says Running again\.\n$/,
  'try-first-agent.ts': new RegExp(
    [
      '^The server is ready\\.',
      'Hello, this is a container\\.',
      'The job has succeeded\\.',
      'Both are deleted\\.',
      'The agent has ended with exit code 0\\.\n$',
    ].join('\n'),
  ),
};
/** Ends with a signal: `try-first-agent.ts` runs it. */
const endless = 'first-agent.ts';

interface Ended {
  readonly pid: number | undefined;
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(name: string): Promise<Ended> {
  const kubeconfig = join(await tempDir(), 'kubeconfig');
  await writeFile(kubeconfig, server.kubeConfig().exportConfig(), { mode: 0o600 });
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = execFile(
    process.execPath,
    [join(root, 'examples', name), kubeconfig],
    { timeout: 90_000 },
    (error, stdout, stderr) => {
      resolve({ pid: child.pid, code: error === null ? 0 : (error.code ?? error.signal ?? 'unknown'), stdout, stderr });
    },
  );
  return promise;
}

async function names(path: string): Promise<string[]> {
  const { body } = await server.admin.send('GET', path);
  return (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
}

describe('the examples', () => {
  it('are all here', () => {
    const files = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'));
    expect(files).toEqual([...Object.keys(printed), endless].sort());
  });

  it.each(
    Object.entries(printed),
  )('%s does what it says, with the server of a kubeconfig, and leaves nothing there', async (name, expected) => {
    const { pid, ...ended } = await run(name);
    expect(ended).toEqual({ code: 0, stdout: expect.stringMatching(expected), stderr: '' });
    const left = await Promise.all(['pods', 'secrets'].map((kind) => names(`/api/v1/namespaces/default/${kind}`)));
    left.push(await names('/api/v1/nodes'), await names('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'));
    expect(left.flat().filter((each) => each.includes(`-${pid}`))).toEqual([]);
  });
});
