// Inside the kit: plays one seed with one agent, and prints what was found as JSON.
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { Prng } from '../../../random/chaos/prng.ts';
import { eventually, pause } from '../../../random/faults/pause.ts';
import { AdminClient } from '../../../support/admin-client.ts';
import { checkEvidence, type Damage } from './check.ts';
import type { Evidence } from './evidence.ts';
import { everydayLife, type FaultKind, faultKinds } from './fault-kinds.ts';
import { AgentProcess, FullDisk, KitProcesses } from './kit-processes.ts';
import { filesWith } from './node-scan.ts';
import { Scene } from './scene.ts';
import { secretText } from './workload.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: '8' },
    kinds: { type: 'string', default: Object.keys(faultKinds).join(',') },
    run: { type: 'string', default: '' },
    command: { type: 'string', default: '' },
    root: { type: 'string', default: '/var/lib/kubelet' },
    'fill-disk': { type: 'boolean', default: false },
  },
});

/** The JSON that is printed. */
export interface PlayOutput {
  readonly seed: number;
  readonly pods: number;
  readonly runs: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly calmAfterMs: number;
  readonly damage: readonly Damage[];
}

const calmWithinMs = 150_000;
const goneWithinMs = 90_000;
/** The kubelet looks for containers and logs of pods that are gone once a minute. */
const leftoversWithinMs = 90_000;

async function play(): Promise<PlayOutput> {
  const prng = new Prng(Number(values.seed));
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(process.env.KUBECONFIG ?? '');
  const agent = new AgentProcess(values.command, `${values.run}/log/agent.log`);
  await agent.start();
  const scene = await Scene.open({
    ...{ admin: new AdminClient(kubeConfig), agent, kit: await KitProcesses.find(values.run), rootDirectory: values.root },
    disk: values['fill-disk'] ? new FullDisk(values.root) : undefined,
    witness: `${values.run}/witness-${values.seed}`,
  });
  const faults = await disturb(scene, prng);
  const calmAt = performance.now();
  // the last start may be younger than the last beat
  await eventually(async () => checkEvidence(await seen(scene)).length === 0, calmWithinMs, 1000);
  const calmAfterMs = performance.now() - calmAt;
  const calm = await seen(scene);
  await scene.deleteAll();
  await eventually(() => scene.allGone, goneWithinMs, 500);
  await eventually(
    async () => [...(await scene.afterwards()).values()].every(({ leftovers }) => leftovers.length === 0),
    leftoversWithinMs,
    1000,
  );
  const afterwards = await scene.afterwards();
  const endings = calm.pods.map((pod) => ({ ...pod, ...afterwards.get(pod.uid) }));
  const evidence = { ...calm, pods: endings, secretsLeft: await filesWith(secretText, values.root) };
  const undying = [...afterwards].filter(([, { goneAt }]) => goneAt === undefined);
  const stuck = undying.map(([uid]): Damage => ({ rule: 'a deleted pod does not go', detail: uid }));
  const died =
    agent.ended === undefined ? [] : [{ rule: 'a status is untrue', detail: `the agent ended: ${agent.ended}` } as const];
  await agent.kill();
  const runs = endings.flatMap(({ witness }) => Object.values(witness)).flat();
  return {
    ...{ seed: Number(values.seed), pods: endings.length, faults, calmAfterMs: Math.round(calmAfterMs) },
    runs: runs.filter(({ what }) => what === 'start').length,
    damage: [...checkEvidence(evidence), ...stuck, ...died],
  };
}

/** What is known so far, as the checker wants it. */
async function seen(scene: Scene): Promise<Evidence> {
  return { pods: await scene.evidence(), injuries: scene.injuries, agentKills: scene.agentKills, secretsLeft: [] };
}

async function disturb(scene: Scene, prng: Prng): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const kinds = values.kinds.split(',') as FaultKind[];
  for (let n = 0; n < 4; n++) await scene.createPod(prng.fork(`first ${n}`));
  await pause(5000);
  for (let n = 0; n < Number(values.faults); n++) {
    const dice = prng.fork(`fault ${n}`);
    await everydayLife(scene, dice);
    const kind = dice.pick(kinds);
    if (kind === undefined) continue;
    process.stderr.write(`seed ${values.seed}: ${kind}\n`);
    await faultKinds[kind](scene, dice);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

console.log(JSON.stringify(await play()));
process.exit(0);
