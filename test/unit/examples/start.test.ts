import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { resources } from '../../../src/reflector.ts';
import { InMemoryApiServer } from '../../../src/testing.ts';
import { tempDir } from '../../support/temp-dir.ts';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an example to its end. `onOutput` sees what it has printed so far. */
function run(
  file: string,
  argv: readonly string[],
  onOutput?: (stdout: string, kill: () => void) => void,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const path = fileURLToPath(new URL(`../../../examples/${file}`, import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [path, ...argv], { env: { ...process.env, ...env } }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
    let seen = '';
    child.stdout?.on('data', (chunk) => {
      seen += chunk;
      onOutput?.(seen, () => child.kill('SIGINT'));
    });
  });
}

const main = 'virtual-node/main.ts';

/** What curl sees, what a browser sees, and the stream of changes from now to its end. */
async function readAll(url: string): Promise<string[]> {
  const [text, html, stream] = await Promise.all([
    fetch(url),
    fetch(url, { headers: { accept: 'text/html' } }),
    fetch(`${url}api/changes`),
  ]);
  return Promise.all([text.text(), html.text(), stream.text()]);
}

async function kubeconfigOf(server: InMemoryApiServer): Promise<string> {
  const kubeconfig = join(await tempDir(), 'kubeconfig');
  await writeFile(kubeconfig, server.kubeConfig().exportConfig());
  return kubeconfig;
}

function expectNothingLeft(server: InMemoryApiServer): void {
  expect(server.store.list()).toEqual([]);
  expect(server.objects(resources.nodes).list()).toEqual([]);
  expect(server.objects(resources.leases).list()).toEqual([]);
}

describe('npm start', () => {
  it('plays the lives of its pods, finds no difference and ends with 0', async () => {
    const { code, stdout, stderr } = await run(main, ['--pods', '20', '--seconds', '2', '--seed', '1']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^requests +\d+ for \d+ changes, .*, errors 0$/m);
    expect(stdout).toMatch(/^it ends after 2 s$/m);
    expect(stdout).toMatch(/differences +0\n/);
    expect(stdout).toMatch(/compared +[1-9]\d* pods/);
    expect(stdout).toContain('the server counted the same');
    expect(stdout).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  it('runs a whole node in memory with --node, whose pods live whole lives, and ends with 0', async () => {
    const folder = await tempDir();
    const argv = ['--node', '--pods', '10', '--seconds', '4', '--seed', '1'];
    const { code, stdout, stderr } = await run(main, argv, undefined, { TMPDIR: folder });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^\w+-\d-\d: Pending, .*\bRunning, .*Terminating, gone$/m);
    expect(stdout).toMatch(/^runtime +\d+ pulls, [1-9]\d+ containers started, \d+ ended$/m);
    expect(stdout).toMatch(/^differences +0$/m);
    expect(stdout).toMatch(/^The server says what the managers say and what ran, and nothing of any pod runs on\.$/m);
    expect(stdout).not.toContain('\u001b');
    expect(code).toBe(0);
    expect(await readdir(folder)).toEqual([]);
  });

  it('places pods on virtual nodes with --schedule until all have gone, and ends with 0', async () => {
    const { code, stdout, stderr } = await run(main, ['--schedule', '--pods', '20', '--seconds', '2', '--seed', '1']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^scheduler +[1-9]\d* placed, /m);
    expect(stdout).toMatch(/^differences +0$/m);
    expect(stdout).toMatch(/no pod had two nodes, no node had more than it can hold, and nothing is left\.$/m);
    expect(stdout).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  it('shares nodes between processes with --fleet, of which some end on the way, loses no status and ends with 0', async () => {
    const folder = await tempDir();
    const argv = ['--fleet', '3', '--nodes', '12', '--pods', '24', '--seconds', '8', '--seed', '1'];
    const { code, stdout, stderr } = await run(main, argv, undefined, { TMPDIR: folder });
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /^broken +(?:[1-9]\d* killed|0 killed, [1-9]\d* stopped|0 killed, 0 stopped, [1-9]\d* frozen), .*started$/m,
    );
    expect(stdout).toMatch(/^compared +[1-9]\d* pods/m);
    for (const verdict of ['lost statuses', 'doubled', 'back in time'])
      expect(stdout).toMatch(new RegExp(`^${verdict} +0$`, 'm'));
    expect(stdout).toMatch(/^The server says what runs: no status was lost, /m);
    expect(code).toBe(0);
    expect(await readdir(folder)).toEqual([]);
  });

  it('ends with 1, names the pods whose status on the server differs, and leaves nothing behind', async () => {
    await using server = await InMemoryApiServer.start();
    // another controller overwrites every status, also the last one
    server.store.watch(({ type, object: { metadata, status } }) => {
      if (type === 'DELETED' || status?.phase === 'Unknown') return;
      const { namespace = '', name = '' } = metadata ?? {};
      const body = { status: { phase: 'Unknown' } };
      setImmediate(() => {
        const isThere = server.store.list({ namespace }).some((pod) => pod.metadata?.name === name);
        const type = 'application/merge-patch+json';
        if (isThere) server.store.patch(namespace, name, { type, body, subresource: 'status' });
      });
    });
    const kubeconfig = await kubeconfigOf(server);
    const argv = ['--pods', '3', '--seconds', '1', '--kubeconfig', kubeconfig, '--namespace', 'only-here'];
    const { code, stdout } = await run(main, argv);
    expect(stdout).toMatch(/\w+-\d-\d+: the server differs in phase\n/);
    expect(stdout).toMatch(
      /Not all is well\.\nnode virtual-node-\w+ and its Lease are removed\nnamespace only-here is removed\n/,
    );
    expectNothingLeft(server);
    expect(code).toBe(1);
  });

  it('has a tainted, ready node while it runs, and ends early with the summary when it is interrupted', async () => {
    await using server = await InMemoryApiServer.start();
    let interrupted = false;
    const seen: unknown[] = [];
    const argv = ['--pods', '5', '--seconds', '3600', '--kubeconfig', await kubeconfigOf(server)];
    const { code, stdout } = await run(main, argv, (output, interrupt) => {
      if (interrupted || !output.includes('1 s |')) return;
      interrupted = true;
      seen.push(...server.objects(resources.nodes).list(), ...server.objects(resources.leases).list());
      interrupt();
    });
    const ready = expect.objectContaining({ type: 'Ready', status: 'True' });
    const name = expect.stringMatching(/^virtual-node-/);
    const taint = expect.objectContaining({ key: 'virtual-node.example/run', effect: 'NoSchedule' });
    expect(seen).toMatchObject([
      {
        metadata: { name },
        spec: { taints: expect.arrayContaining([taint]) },
        status: { conditions: expect.arrayContaining([ready]) },
      },
      { metadata: { name, namespace: 'kube-node-lease' } },
    ]);
    expect(stdout).toMatch(/differences +0\n/);
    expectNothingLeft(server);
    expect(code).toBe(0);
  });

  it('shows its pods live at the address that it prints, and ends though somebody watches', async () => {
    const shown: Promise<string[]>[] = [];
    const { code, stdout } = await run(main, ['--pods', '3', '--seconds', '5', '--seed', '4'], (output) => {
      const [, url] = /^watch it live: (http:\/\/127\.0\.0\.1:\d+\/)$/m.exec(output) ?? [];
      if (url !== undefined && output.includes('1 s |') && shown.length === 0) shown.push(readAll(url));
    });
    const [text, html, stream] = (await shown[0]) ?? [];
    expect(text).toMatch(/^trouble {4}/);
    expect(text).toMatch(/^manager {4}running$/m);
    expect(text).toMatch(/^node {7}virtual-node-\w+ running, registered, ready$/m);
    expect(text).toMatch(/^pod-status-manager-\w+ +\w+-0-\d+ +(Pending|Running|Succeeded|Failed) /m);
    expect(html).toContain('<!doctype html>');
    expect(stream).toMatch(/^event: snapshot\ndata: \{.*\}\n\n(event: changes\ndata: \{.*\}\n\n)+$/);
    expect(stdout).toMatch(/differences +0\n/);
    expect(code).toBe(0);
  });

  it('ends with 1 when the port of the page is taken, and leaves nothing behind', async () => {
    await using server = await InMemoryApiServer.start();
    const argv = ['--kubeconfig', await kubeconfigOf(server), '--debug-port', new URL(server.url).port];
    const { code, stderr } = await run(main, argv);
    expect(stderr).toMatch(/^listen EADDRINUSE/);
    expectNothingLeft(server);
    expect(code).toBe(1);
  });

  it('finds pods that somebody else has taken away, and ends with 1', async () => {
    await using server = await InMemoryApiServer.start();
    let isTaken = false;
    // what a cluster's controllers do to the pods of a node that they do not know
    server.store.watch(({ object: { metadata } }) => {
      if (isTaken) return;
      isTaken = true;
      const { namespace = '', name = '' } = metadata ?? {};
      setImmediate(() => server.store.delete(namespace, name, { gracePeriodSeconds: 0 }));
    });
    // the seed's pods live longer than the run
    const argv = ['--pods', '3', '--seconds', '2', '--seed', '4', '--kubeconfig', await kubeconfigOf(server)];
    const { code, stdout } = await run(main, argv);
    expect(stdout).toMatch(/\w+-\d-\d+: it is gone, and its owner has not deleted it\n/);
    expectNothingLeft(server);
    expect(code).toBe(1);
  });

  it('ends with 1 and the reason when it may not list pods, and leaves nothing behind', async () => {
    await using server = await InMemoryApiServer.start();
    for (const verb of ['list', 'watch'] as const) server.fail({ verb, fault: { kind: 'status', code: 403 }, times: 1000 });
    const { code, stderr } = await run(main, ['--kubeconfig', await kubeconfigOf(server)]);
    expect(stderr).toMatch(/^The provider node has not started within \d+ ms: the source "api" has not sent its pods: 403 /);
    expectNothingLeft(server);
    expect(code).toBe(1);
  });

  it('names the rule that an option breaks, and ends with 2', async () => {
    const { code, stdout, stderr } = await run(main, ['--pods', 'many']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^--pods must be an integer from 1 to 5000, got "many"\nUsage: npm start/);
  });

  it('refuses a kubeconfig that does not exist', async () => {
    const { code, stderr } = await run(main, ['--kubeconfig', '/no/such/file']);
    expect(code).toBe(2);
    expect(stderr).toContain('--kubeconfig must be a kubeconfig that can be read: ENOENT');
  });

  it('prints its help', async () => {
    const { code, stdout } = await run(main, ['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: npm start -- [--node | --schedule | --fleet N [--nodes N]] [--break]');
  });
});
