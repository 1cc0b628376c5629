// Inside the kit: plays one seed with one agent, and prints what was found as JSON.
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { Prng } from '../../../random/chaos/prng.ts';
import { AdminClient } from '../../../support/admin-client.ts';
import { type FaultKind, faultKinds } from './fault-kinds.ts';
import { AgentProcess, FullDisk, KitProcesses, ownNode } from './kit-processes.ts';
import { playSeed } from './play-seed.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: '8' },
    kinds: { type: 'string', default: Object.keys(faultKinds).join(',') },
    run: { type: 'string', default: '' },
    command: { type: 'string', default: '' },
    root: { type: 'string', default: '/var/lib/kubelet' },
    'fill-disk': { type: 'boolean', default: false },
    'pressure-seconds': { type: 'string', default: '300' },
  },
});

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(process.env.KUBECONFIG ?? '');
const agent = new AgentProcess(values.command, `${values.run}/log/agent.log`);
await agent.start();
const witness = `${values.run}/witness-${values.seed}`;
await mkdir(witness, { recursive: true });
const seed = Number(values.seed);
const played = { seed, prng: new Prng(seed), faults: Number(values.faults), kinds: values.kinds.split(',') as FaultKind[] };
const output = await playSeed(played, {
  ...{ admin: new AdminClient(kubeConfig), agent, kit: await KitProcesses.find(values.run) },
  ...{ node: ownNode(witness, values.root), nodeName: 'node-kit', witness },
  pressureSeconds: Number(values['pressure-seconds']),
  disk: values['fill-disk'] ? new FullDisk(values.root) : undefined,
});
await agent.kill();
console.log(JSON.stringify(output));
process.exit(0);
