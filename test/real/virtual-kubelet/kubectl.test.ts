// The real kubectl against a `ProviderNode` whose containers are processes of this machine, over a real control plane.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { ProviderNode } from 'pod-status-manager/node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isAlive } from '../../support/is-alive.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { type KubectlProtocol, kubectl, RunningKubectl } from './support/kubectl.ts';
import { localProcesses } from './support/local-processes.ts';
import { startMetricsServer } from './support/metrics-server.ts';
import { asAdmin } from './support/nodes.ts';
import { nodeAddress, nodePort } from './support/world.ts';

const nodeName = 'kubectl-0';
let node: ProviderNode;
let namespace = '';

/** Creates a pod of one container, and resolves once that is Ready. */
async function createPod(name: string, script: string, container: object = {}): Promise<void> {
  const app = { name: 'app', image: 'none', command: ['/bin/sh', '-c', script], ...container };
  const spec = { nodeName, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers: [app] };
  await asAdmin((admin) => admin.createPod(namespace, { metadata: { name }, spec }));
  const { code, stderr } = await kubectl(['-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, '--timeout=20s']);
  if (code !== 0) throw new Error(stderr);
}

const inNamespace = (args: readonly string[]): string[] => ['-n', namespace, ...args];

beforeAll(async () => {
  const { kubeconfig, serving, clientCAFile } = inject('virtualKubeletWorld');
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(kubeconfig);
  node = new ProviderNode({
    kubeConfig,
    nodeName,
    provider: localProcesses(),
    addresses: [{ type: 'InternalIP', address: nodeAddress }],
    server: {
      address: nodeAddress,
      port: nodePort,
      tlsCertFile: serving.cert,
      tlsPrivateKeyFile: serving.key,
      clientCAFile,
    },
    removeOnStop: true,
    logger: null,
  });
  await node.start();
  namespace = await asAdmin((admin) => admin.createNamespace('kubectl'));
  await createPod('sleeper', 'sleep 1000');
});

afterAll(async () => {
  await kubectl(inNamespace(['delete', 'pods', '--all', '--wait=true', '--timeout=20s']));
  await node.stop();
});

describe('kubectl logs', () => {
  it('shows what a container has written to both outputs, and its last lines with --tail', async () => {
    await createPod('writer', 'echo one; echo two; echo three >&2; sleep 1000');
    const all = await kubectl(inNamespace(['logs', 'writer']));
    expect(all.stdout.split('\n').toSorted()).toEqual(['', 'one', 'three', 'two']);
    const tail = await kubectl(inNamespace(['logs', 'writer', '--tail=1', '--timestamps']));
    expect(tail.stdout).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (?:two|three)\n$/);
    expect(tail.code).toBe(0);
  });

  it('follows with -f until the container has ended', async () => {
    const gate = join(inject('virtualKubeletWorld').folder, 'gate');
    await createPod('followed', `echo begun; while [ ! -e ${gate} ]; do sleep 0.05; done; echo over; sleep 0.1; exit 0`);
    await using follower = await RunningKubectl.start(inNamespace(['logs', '-f', 'followed']));
    await follower.says(/begun/);
    await writeFile(gate, '');
    expect(await follower.ended).toMatchObject({ code: 0, stdout: 'begun\nover\n' });
  });

  it('shows the run before with --previous', async () => {
    const mark = join(inject('virtualKubeletWorld').folder, 'ran-before');
    await createPod('restarted', `if [ -e ${mark} ]; then echo second; sleep 1000; fi; touch ${mark}; echo first; exit 1`);
    await pollUntil(
      'the second run writes',
      async () => (await kubectl(inNamespace(['logs', 'restarted']))).stdout === 'second\n',
      {
        withinMs: 20_000,
      },
    );
    const { stdout, code } = await kubectl(inNamespace(['logs', 'restarted', '--previous']));
    expect({ stdout, code }).toEqual({ stdout: 'first\n', code: 0 });
  });

  it('says in words that there is no such container, and no run before', async () => {
    const none = await kubectl(inNamespace(['logs', 'sleeper', '--previous']));
    expect(none.code).toBe(1);
    expect(none.stderr).toContain('previous terminated container "app" in pod "sleeper" not found');
  });
});

describe.each<KubectlProtocol>(['WebSockets', 'SPDY'])('over %s', (protocol) => {
  it('kubectl exec shows both outputs and ends with the exit code of the command', async () => {
    const script = 'echo out; echo err >&2; exit 7';
    const result = await kubectl(inNamespace(['exec', 'sleeper', '--', 'sh', '-c', script]), { protocol });
    expect(result).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\ncommand terminated with exit code 7\n' });
  });

  it('kubectl exec -i hands over what it reads, however much, and its end', async () => {
    const input = Buffer.alloc(3 << 20, 'pod ').toString();
    const { stdout, code } = await kubectl(inNamespace(['exec', '-i', 'sleeper', '--', 'cat']), { protocol, input });
    expect({ code, same: stdout === input }).toEqual({ code: 0, same: true });
  });

  it('kubectl exec -it gives the command a terminal, as large as the one of the client', async () => {
    await using running = await RunningKubectl.start(inNamespace(['exec', '-it', 'sleeper', '--', 'sh']), {
      protocol,
      terminal: true,
    });
    running.child.stdin.write('tty; stty size; echo $((40+2))\n');
    await running.says(/\/dev\/pts\/\d+\r\n31 97\r\n42\r\n/);
    running.child.stdin.write('exit 5\n');
    expect(await running.ended).toMatchObject({ code: 5 });
  });

  it('kubectl exec says why a command cannot be run', async () => {
    const { code, stderr } = await kubectl(inNamespace(['exec', 'sleeper', '--', '/no/such/command']), { protocol });
    expect(code).toBe(1);
    expect(stderr).toContain('ENOENT');
  });

  it('a command ends when its client is gone', async () => {
    await using running = await RunningKubectl.start(
      inNamespace(['exec', 'sleeper', '--', 'sh', '-c', 'echo $$; exec sleep 1000']),
      {
        protocol,
      },
    );
    const [, pid] = await running.says(/^(\d+)\n/);
    expect(isAlive(Number(pid))).toBe(true);
    running.child.kill('SIGKILL');
    await pollUntil('the command ends', () => !isAlive(Number(pid)), { withinMs: 20_000 });
  });

  it('kubectl attach connects with the main process', async () => {
    const name = `attached-${protocol.toLowerCase()}`;
    await createPod(name, 'while read line; do echo "got $line"; done; sleep 1000', { stdin: true });
    await using running = await RunningKubectl.start(inNamespace(['attach', '-i', name]), { protocol });
    running.child.stdin.write('hello\n');
    await running.says(/got hello\n/);
    running.child.stdin.write('again\n');
    await running.says(/got again\n/);
    const { stdout } = await kubectl(inNamespace(['logs', name]));
    expect(stdout).toBe('got hello\ngot again\n');
  });

  it('kubectl port-forward carries bytes both ways, over several connections', async () => {
    const server = createServer((request, answer) => void request.pipe(answer)).listen(0, '127.0.0.1');
    await pollUntil('the server listens', () => server.listening);
    const { port } = server.address() as { readonly port: number };
    try {
      await using running = await RunningKubectl.start(inNamespace(['port-forward', 'pod/sleeper', `:${port}`]), { protocol });
      const [, local] = await running.says(/Forwarding from 127\.0\.0\.1:(\d+)/);
      const bodies = ['first', 'x'.repeat(1 << 20), 'third'];
      const echoes = await Promise.all(
        bodies.map(async (body) => (await fetch(`http://127.0.0.1:${local}/`, { method: 'POST', body })).text()),
      );
      expect(echoes.map((echo, index) => echo === bodies[index])).toEqual([true, true, true]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('kubectl port-forward says why nothing answers at the port', async () => {
    await using running = await RunningKubectl.start(inNamespace(['port-forward', 'pod/sleeper', ':1']), { protocol });
    const [, local] = await running.says(/Forwarding from 127\.0\.0\.1:(\d+)/);
    const socket = connect(Number(local), '127.0.0.1').on('error', () => {});
    socket.write('anybody?');
    socket.resume();
    await pollUntil('the connection ends', () => socket.closed, { withinMs: 20_000 });
    await pollUntil('kubectl says why', () => running.stderr.includes('ECONNREFUSED'), {
      withinMs: 20_000,
      seen: () => running.stderr,
    });
  });

  it('kubectl cp copies a folder into a pod and back', async () => {
    const folder = join(inject('virtualKubeletWorld').folder, `cp-${protocol}`);
    await mkdir(join(folder, 'from/sub'), { recursive: true });
    await mkdir(join(folder, 'pod'));
    await writeFile(join(folder, 'from/sub/a.txt'), 'a\n');
    await writeFile(join(folder, 'from/big'), Buffer.alloc(2 << 20, 7));
    const there = await kubectl(inNamespace(['cp', join(folder, 'from'), `sleeper:${join(folder, 'pod')}`]), { protocol });
    expect(there).toMatchObject({ code: 0, stderr: '' });
    const back = await kubectl(inNamespace(['cp', `sleeper:${join(folder, 'pod/from')}`, join(folder, 'back')]), { protocol });
    expect(back.code).toBe(0);
    expect(await readFile(join(folder, 'back/sub/a.txt'), 'utf8')).toBe('a\n');
    expect((await readFile(join(folder, 'back/big'))).equals(Buffer.alloc(2 << 20, 7))).toBe(true);
  });
});

it('kubectl get --raw shows what the pods take', async () => {
  const summary = await kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/stats/summary`]);
  const { pods } = JSON.parse(summary.stdout) as { pods: { podRef: { name: string }; memory: { workingSetBytes: number } }[] };
  expect(pods.find(({ podRef }) => podRef.name === 'sleeper')?.memory.workingSetBytes).toBe(3 << 20);
  const metrics = await kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/metrics/resource`]);
  expect(metrics.stdout).toMatch(/container_memory_working_set_bytes\{container="app",.*pod="sleeper"\} 3145728/);
});

it('kubectl top shows what pods and the node take, as metrics-server has read it', async () => {
  await using _server = await startMetricsServer();
  const top = async (args: readonly string[]) => {
    const { code, stdout } = await kubectl(['top', ...args]);
    return code === 0 && stdout;
  };
  const pod = () => top(['pod', '-n', namespace, 'sleeper', '--no-headers']);
  // the processor time of two readings, which are ten seconds apart, makes a rate
  expect(await pollUntil('the pod is shown', pod, { withinMs: 60_000 })).toMatch(/^sleeper\s+25\dm\s+3Mi\s*$/);
  const shownNode = () => top(['node', nodeName, '--no-headers']);
  expect(await pollUntil('the node is shown', shownNode, { withinMs: 60_000 })).toMatch(
    /^kubectl-0\s+\d+m\s+\d+%\s+\d+Mi\s+\d+%/,
  );
});
