// Inside the kit: starts an agent whose folder of manifests is full, and prints what it measured as JSON.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { AdminClient } from '../../test/support/admin-client.ts';
import { objectOf } from '../../test/support/answers.ts';
import { usageOf } from '../support/usage.ts';
import { startAgent } from './started-agent.ts';

const { values } = parseArgs({
  options: {
    command: { type: 'string', default: '' },
    log: { type: 'string', default: '/dev/null' },
    image: { type: 'string', default: '' },
    folder: { type: 'string', default: '' },
    manifests: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '180' },
  },
});

/** The JSON that is printed. */
export interface ManifestsOutput {
  /** From the start of the agent until the node is Ready. */
  readonly readySeconds: number;
  /** From then on until as many mirror pods are Ready as the node takes; undefined: not in the time. */
  readonly runningSeconds: number | undefined;
  /** Mirror pods at the end, and those of them that the node has refused. */
  readonly mirrorPods: number;
  readonly refused: number;
  readonly memoryMiB: number;
  readonly cpuSeconds: number;
}

/** What a node takes unless it is told otherwise. */
const mostPods = 110;

interface MirrorPod {
  readonly status: { readonly phase?: string; readonly conditions?: readonly { type: string; status: string }[] };
}

async function writeManifests(): Promise<void> {
  await mkdir(values.folder, { recursive: true });
  for (let n = 0; n < Number(values.manifests); n += 1) {
    const metadata = { name: `static-${n}`, namespace: 'default' };
    const containers = [{ name: 'main', image: values.image, imagePullPolicy: 'IfNotPresent' }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } };
    await writeFile(join(values.folder, `${metadata.name}.json`), JSON.stringify(pod));
  }
}

async function mirrorPods(admin: AdminClient): Promise<readonly MirrorPod[]> {
  const { items = [] } = objectOf(await admin.listPods('default')) as { items?: readonly MirrorPod[] };
  return items;
}

function isReadyPod({ status: { conditions = [] } }: MirrorPod): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(process.env.KUBECONFIG ?? '');
const admin = new AdminClient(kubeConfig);
await writeManifests();
const agent = await startAgent(values.command, values.log, admin);
const began = performance.now();
const passedSeconds = (): number => (performance.now() - began) / 1000;
let runningSeconds: number | undefined;
while (passedSeconds() < Number(values.seconds)) {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  if (runningSeconds === undefined && (await mirrorPods(admin)).filter(isReadyPod).length >= mostPods)
    runningSeconds = passedSeconds();
}
const pods = await mirrorPods(admin);
const { memoryMiB, cpuSeconds } = await usageOf(agent.pid);
const refused = pods.filter(({ status }) => status.phase === 'Failed').length;
const output: ManifestsOutput = {
  ...{ readySeconds: agent.readyMs / 1000, runningSeconds, mirrorPods: pods.length, refused, memoryMiB, cpuSeconds },
};
await agent.stop();
await admin.close();
console.log(JSON.stringify(output));
process.exit(0);
