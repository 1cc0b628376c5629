// One measurement in its own process, like the peer's mode `secrets`: the same pods, the same secrets, the same JSON line.
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeTransport, type Pod } from '../../src/index.ts';
import { SecretManager } from '../../src/object-managers.ts';
import { podFor } from '../support/workload.ts';
import { secretNames } from './secret-names.ts';

const { values } = parseArgs({
  options: { server: { type: 'string' }, namespace: { type: 'string' }, pods: { type: 'string' }, secrets: { type: 'string' } },
});
const { server = '', namespace = '' } = values;
const [podCount, secrets] = [Number(values.pods), Number(values.secrets)];

const kubeConfig = new KubeConfig();
kubeConfig.loadFromClusterAndUser(
  { name: 'bench', server, skipTLSVerify: true },
  { name: 'bench', token: process.env.BENCH_TOKEN ?? '' },
);
const transport = new KubeTransport(kubeConfig);
const count = { requests: 0, watches: 0 };
const counted: Pick<KubeTransport, 'request' | 'stream'> = {
  request(request) {
    count.requests += 1;
    return transport.request(request);
  },
  stream(request) {
    count.requests += 1;
    count.watches += 1;
    return transport.stream(request);
  },
};
const manager = new SecretManager({ logger: null, transport: counted, strategy: 'watch' });

function podWithSecrets(index: number): Pod {
  const { metadata, spec } = podFor(namespace, 'node-a', index);
  const volumes = secretNames(index, secrets).map((name) => ({ name, secret: { secretName: name } }));
  return { metadata: { ...metadata, uid: `uid-${index}` }, spec: { ...spec, containers: spec?.containers ?? [], volumes } };
}

/** Reads one secret, again and again until it is there, as a pod worker does. */
async function read(name: string): Promise<void> {
  for (;;) {
    try {
      const { data } = await manager.getSecret(namespace, name);
      const found = Buffer.from(data?.name ?? '', 'base64').toString();
      if (found !== name) throw new RangeError(`secret ${name} holds ${found}`);
      return;
    } catch (error) {
      if (error instanceof RangeError) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

const pods = Array.from({ length: podCount }, (_, index) => podWithSecrets(index));
const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
for (const pod of pods) manager.registerPod(pod);
await Promise.all(
  pods.map(async (_, index) => {
    for (const name of secretNames(index, secrets)) await read(name);
  }),
);
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpu);
const cpuSeconds = (user + system) / 1e6;
const maxRSS = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`${JSON.stringify({ seconds, cpuSeconds, ...count, maxRSS })}\n`, () => process.exit(0));
