import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CriRuntime } from '../../../../src/cri.ts';
import { isRuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { RuntimeSubject } from '../../../support/runtime-contract/runtime-subject.ts';
import { Containerd } from './containerd.ts';

const images = 'registry.k8s.io/e2e-test-images';

/** containerd of the kit whose folder is `run`, through CriRuntime, in real time. */
export async function containerdSubject(run: string): Promise<RuntimeSubject> {
  const containerd = new Containerd(run);
  const runtime = new CriRuntime({ socketPath: containerd.socketPath });
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    const limit = Date.now() + 60_000;
    while (!(await condition())) {
      if (Date.now() > limit) throw new Error(`never happened: ${condition}`);
      await sleep(20);
    }
  };
  return {
    runtime,
    image: `${images}/busybox:1.36.1-1`,
    pullableImage: `${images}/kitten:1.8`,
    missingImage: 'registry.k8s.io/no-such-image:1',
    settled: (work) => work,
    until,
    now: () => Date.now(),
    readFile: (path) => readFile(containerd.pathOf(path), 'utf8').catch(() => ''),
    takeDown: () => containerd.kill(),
    async bringUp() {
      await containerd.start();
      await until(() => answers(runtime));
    },
    async close() {
      const made = (await runtime.listPodSandboxes()).filter(({ metadata: { name, uid } }) => name === `pod-${uid}`);
      await Promise.all(made.map(({ id }) => runtime.stopPodSandbox(id).then(() => runtime.removePodSandbox(id))));
      await runtime.close();
    },
  };
}

/** False while containerd is on its way up. */
async function answers(runtime: CriRuntime): Promise<boolean> {
  try {
    return (await runtime.health()).conditions.every(({ type, status }) => status || !/^(Runtime|Network)Ready$/.test(type));
  } catch (error) {
    if (isRuntimeError(error, 'unavailable') || isRuntimeError(error, 'unimplemented')) return false;
    throw error;
  }
}
