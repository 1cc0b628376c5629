import type { Prng } from '../../../random/chaos/prng.ts';
import { pause } from '../../../random/faults/pause.ts';
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
  'runtime restarted': async ({ kit }: Scene, prng: Prng) => {
    await kit.restart('containerd', prng.between(0, 4000));
  },
  /** The events of these ends come to nobody. */
  'containers die while the runtime is away': async ({ kit, killContainer }: Scene, prng: Prng) => {
    const back = kit.restart('containerd', 2000);
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
  'disk full': async (scene: Scene, prng: Prng) => {
    if (scene.disk === undefined) return;
    await scene.disk.fill();
    await scene.createPod(prng);
    await pause(prng.between(2000, 6000));
    await scene.disk.free();
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
