import type { Prng } from '../../../random/chaos/prng.ts';
import { eventually, pause } from '../../../random/faults/pause.ts';
import type { Scene } from './scene.ts';

/** What happens to the node. Each resolves once it is over. */
export const faultKinds = {
  'agent killed': async ({ agent, note }: Scene, prng: Prng) => {
    await note.agentKill();
    await agent.kill();
    await pause(prng.between(0, 3000));
    await agent.start();
  },
  /** At a moment in which containers are being made. */
  'agent killed in a start': async (scene: Scene, prng: Prng) => {
    await scene.createPod(prng);
    await pause(prng.between(0, 700));
    await faultKinds['agent killed'](scene, prng);
  },
  'pod deleted while the agent is dead': async ({ agent, note, deletePod }: Scene, prng: Prng) => {
    await note.agentKill();
    await agent.kill();
    await deletePod(prng);
    await pause(prng.between(0, 2000));
    await agent.start();
  },
  'containers die while the agent is dead': async ({ agent, note, killContainer }: Scene, prng: Prng) => {
    await note.agentKill();
    await agent.kill();
    await killContainer(prng);
    await pause(prng.between(0, 2000));
    await agent.start();
  },
  'runtime restarted': async ({ restartRuntime }: Scene, prng: Prng) => {
    await restartRuntime(prng.between(0, 4000));
  },
  /** The events of these ends come to nobody. */
  'containers die while the runtime is away': async ({ restartRuntime, killContainer }: Scene, prng: Prng) => {
    const back = restartRuntime(2000);
    await pause(500);
    await killContainer(prng);
    await back;
  },
  'apiserver hangs': async ({ kit }: Scene, prng: Prng) => {
    kit.signal('kube-apiserver', 'SIGSTOP');
    await pause(prng.between(1000, 12_000));
    kit.signal('kube-apiserver', 'SIGCONT');
  },
  'apiserver away while containers die': async ({ kit, killContainer }: Scene, prng: Prng) => {
    kit.signal('kube-apiserver', 'SIGSTOP');
    await killContainer(prng);
    await pause(prng.between(1000, 6000));
    kit.signal('kube-apiserver', 'SIGCONT');
  },
  'container killed': async ({ killContainer }: Scene, prng: Prng) => killContainer(prng),
  'sandbox killed': async ({ killSandbox }: Scene, prng: Prng) => killSandbox(prng),
  /** For a moment, which the agent may see or not, or until it has evicted a pod. */
  'disk full': async (scene: Scene, prng: Prng) => {
    if (scene.disk === undefined) return;
    await scene.whileDiskFull(scene.disk, async () => {
      await scene.createPod(prng);
      await pause(prng.between(2000, 6000));
      const before = scene.evicted;
      if (prng.chance(0.4)) await eventually(async () => scene.evicted > before, 20_000, 200);
    });
  },
  'machine rebooted': async ({ node, note }: Scene) => {
    if (node.reboot === undefined) return;
    await note.reboot();
    await node.reboot();
    // what was started while the machine went down has ended, too
    await note.reboot();
  },
} satisfies Record<string, (scene: Scene, prng: Prng) => Promise<void>>;

export type FaultKind = keyof typeof faultKinds;

/** Between two faults, things go on as always. */
export async function everydayLife(scene: Scene, prng: Prng): Promise<void> {
  if (prng.chance(0.7)) await scene.createPod(prng);
  if (prng.chance(0.5)) await scene.deletePod(prng);
  await pause(prng.between(500, 3000));
}
