import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { isAlive } from '../../support/is-alive.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { tempDir } from '../../support/temp-dir.ts';

let server: TestServer;
const nodeName = `agent-${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server.admin.send('DELETE', `/api/v1/nodes/${nodeName}`);
  await server.admin.send('DELETE', `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`);
  await server.stop();
});

async function startAgent(folder: string, kubeConfig = server.kubeConfig()): Promise<ChildProcess> {
  const KUBECONFIG = join(folder, 'kubeconfig');
  await writeFile(KUBECONFIG, kubeConfig.exportConfig(), { mode: 0o600 });
  const env = { ...process.env, KUBECONFIG, NODE_NAME: nodeName };
  const agent = spawn(process.execPath, [join(root, 'examples/first-agent.ts')], { env, stdio: 'ignore' });
  onTestFinished(() => void agent.kill('SIGKILL'));
  return agent;
}

/** Resolves to the exit code. */
async function end(agent: ChildProcess): Promise<number> {
  agent.kill('SIGTERM');
  const [code] = await once(agent, 'exit');
  return code;
}

describe('examples/first-agent.ts', () => {
  it('ends its processes when it ends, runs its pods again when it is back, and ends them when they are deleted', async () => {
    const folder = await tempDir();
    const namespace = await server.admin.createNamespace('agent');
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const pidFile = join(folder, 'pid');
    const container = { name: 'app', image: 'sh', args: ['-c', 'echo $$$$ > "$PID_FILE"; exec sleep 3600'] };
    const spec = {
      nodeName,
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 5,
      containers: [{ ...container, env: [{ name: 'PID_FILE', value: pidFile }] }],
      // as every pod has one that is not told otherwise
      volumes: [{ name: 'kube-api-access-abcde', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
    };
    const served = async (): Promise<ServedPod | undefined> => {
      const answer = await server.admin.getPod(namespace, 'web');
      return answer.status === 200 ? podOf(answer) : undefined;
    };
    const isReady = async (restarts: number): Promise<boolean> => {
      const { conditions = [], containerStatuses } = (await served())?.status ?? {};
      const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
      return ready && containerStatuses?.[0]?.restartCount === restarts;
    };
    // the process may be ready before it has written
    const pid = (): Promise<number> => pollUntil('a process id', async () => Number(await readFile(pidFile, 'utf8')) || false);

    const first = await startAgent(folder);
    const create = async (): Promise<number> =>
      (await server.admin.send('POST', pods, { body: { metadata: { name: 'web' }, spec } })).status;
    // a new namespace has no service account at first
    await expect.poll(create, { timeout: 20_000 }).toBe(201);
    await expect.poll(() => isReady(0), { timeout: 30_000 }).toBe(true);
    const firstPid = await pid();
    expect(isAlive(firstPid)).toBe(true);
    expect(await end(first)).toBe(0);
    expect(isAlive(firstPid)).toBe(false);

    const second = await startAgent(folder);
    await expect.poll(() => isReady(1), { timeout: 40_000 }).toBe(true);
    const secondPid = await pid();
    expect([secondPid === firstPid, isAlive(secondPid)]).toEqual([false, true]);

    await server.admin.send('DELETE', `${pods}/web`);
    await expect.poll(served, { timeout: 20_000 }).toBeUndefined();
    expect(isAlive(secondPid)).toBe(false);
    expect(await end(second)).toBe(0);
  });

  it('ends in peace where it is told so while it starts', async () => {
    // it starts for as long as no server answers
    const deaf = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    onTestFinished(() => void deaf.close());
    await once(deaf, 'listening');
    const kubeConfig = new KubeConfig();
    const cluster = { name: 'deaf', skipTLSVerify: false, server: `http://127.0.0.1:${(deaf.address() as AddressInfo).port}` };
    kubeConfig.loadFromClusterAndUser(cluster, { name: 'agent' });
    const agent = await startAgent(await tempDir(), kubeConfig);
    await once(deaf, 'connection');
    expect(await end(agent)).toBe(0);
  });

  it('gives a container the value of a secret; until the secret is there the pod waits, and says why', async () => {
    const folder = await tempDir();
    const namespace = await server.admin.createNamespace('agent');
    const agent = await startAgent(folder);
    const out = join(folder, 'out');
    const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }];
    const container = { name: 'app', image: 'sh', args: ['-c', `printf '[%s] %s' "$PASSWORD" '$(PASSWORD)' > ${out}`], env };
    const spec = { nodeName, restartPolicy: 'Never', automountServiceAccountToken: false, containers: [container] };
    const create = async (): Promise<number> =>
      (await server.admin.createPod(namespace, { metadata: { name: 'job' }, spec })).status;
    await expect.poll(create, { timeout: 20_000 }).toBe(201);
    const statusOf = async () => podOf(await server.admin.getPod(namespace, 'job')).status;
    const waiting = async () => (await statusOf())?.containerStatuses?.[0]?.state?.waiting;
    const reason = 'CreateContainerConfigError';
    await expect.poll(waiting, { timeout: 30_000 }).toEqual({ reason, message: 'secret "db" not found' });
    const body = { metadata: { name: 'db' }, data: { password: Buffer.from('s3cret').toString('base64') } };
    await server.admin.send('POST', `/api/v1/namespaces/${namespace}/secrets`, { body });
    await expect.poll(async () => (await statusOf())?.phase, { timeout: 30_000 }).toBe('Succeeded');
    expect(await readFile(out, 'utf8')).toBe('[s3cret] s3cret');
    expect(await end(agent)).toBe(0);
  });

  it('refuses a pod that asks for what it cannot do, and says what', async () => {
    const folder = await tempDir();
    const namespace = await server.admin.createNamespace('agent');
    const agent = await startAgent(folder);
    const app = { name: 'app', image: 'sleep', args: ['3600'] };
    const settings = { name: 'settings' };
    const probe = { exec: { command: ['true'] } };
    const asked: Readonly<Record<string, { readonly spec: object; readonly what: string }>> = {
      'config-map': {
        spec: { containers: [app], volumes: [{ name: 'config', configMap: settings }] },
        what: 'volume config: volumes are',
      },
      secret: {
        spec: { containers: [app], volumes: [{ name: 'kube-api-access-mine', secret: { secretName: 'settings' } }] },
        what: 'volume kube-api-access-mine: volumes are',
      },
      probe: { spec: { containers: [{ ...app, readinessProbe: probe }] }, what: 'container app: readinessProbe is' },
    };
    for (const [name, { spec }] of Object.entries(asked)) {
      const body = { metadata: { name }, spec: { nodeName, automountServiceAccountToken: false, ...spec } };
      const create = async (): Promise<number> =>
        (await server.admin.send('POST', `/api/v1/namespaces/${namespace}/pods`, { body })).status;
      await expect.poll(create, { timeout: 20_000 }).toBe(201);
    }
    const statusOf = async (name: string) => {
      const { phase, reason, message } = podOf(await server.admin.getPod(namespace, name)).status ?? {};
      return { phase, reason, message };
    };
    for (const [name, { what }] of Object.entries(asked)) {
      const message = `Pod was rejected: ${what} not supported by this agent`;
      await expect.poll(() => statusOf(name), { timeout: 30_000 }).toEqual({ phase: 'Failed', reason: 'NotSupported', message });
    }
    expect(await end(agent)).toBe(0);
  });
});
