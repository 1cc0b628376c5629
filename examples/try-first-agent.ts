// Lets the first agent run two pods, a server and a job, and ends it. Run it: node examples/try-first-agent.ts [KUBECONFIG]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiError, KubeTransport } from 'pod-status-manager';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? new KubeConfig();
if (file !== undefined) kubeConfig.loadFromFile(file);

// the agent finds its server as kubectl does
const folder = await mkdtemp(join(tmpdir(), 'first-agent-'));
const KUBECONFIG = join(folder, 'kubeconfig');
await writeFile(KUBECONFIG, kubeConfig.exportConfig(), { mode: 0o600 });
const nodeName = `first-agent-${process.pid}`;
const agent = spawn(process.execPath, [fileURLToPath(new URL('first-agent.ts', import.meta.url))], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, KUBECONFIG, NODE_NAME: nodeName },
});

const transport = new KubeTransport(kubeConfig);
const pods = new ResourceClient(transport, resources.pods);
const nodes = new ResourceClient(transport, resources.nodes);
const leases = new ResourceClient(transport, resources.leases);

/** Resolves once the pod is so; `is` is asked with undefined when there is no such pod. */
async function until(name: string, is: (phase: string | undefined, isReady: boolean) => boolean): Promise<void> {
  for (;;) {
    const pod = await pods.get({ namespace: 'default', name }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    });
    const conditions = pod?.status?.conditions ?? [];
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (is(pod?.status?.phase, isReady)) return;
    await delay(50);
  }
}

const web = { namespace: 'default', name: `web-${process.pid}` };
await pods.create({
  metadata: web,
  spec: { nodeName, terminationGracePeriodSeconds: 5, containers: [{ name: 'server', image: 'sleep', args: ['3600'] }] },
});
await until(web.name, (_, isReady) => isReady);
console.log('The server is ready.');

const job = { namespace: 'default', name: `job-${process.pid}` };
const greet = { name: 'greet', image: 'sh', args: ['-c', 'echo "$GREETING, this is a container."'] };
await pods.create({
  metadata: job,
  spec: { nodeName, restartPolicy: 'Never', containers: [{ ...greet, env: [{ name: 'GREETING', value: 'Hello' }] }] },
});
await until(job.name, (phase) => phase === 'Succeeded');
console.log('The job has succeeded.');

for (const { name } of [web, job]) {
  await pods.delete({ namespace: 'default', name });
  await until(name, (phase) => phase === undefined);
}
console.log('Both are deleted.');

agent.kill('SIGTERM');
const [code] = await once(agent, 'exit');
console.log(`The agent has ended with exit code ${code}.`);

await nodes.delete({ name: nodeName });
await leases.delete({ namespace: 'kube-node-lease', name: nodeName });
await rm(folder, { recursive: true });
await transport.close();
await server?.stop();
process.exitCode = code;
