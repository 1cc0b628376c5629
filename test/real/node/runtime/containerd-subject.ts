import { setTimeout as sleep } from 'node:timers/promises';
import { CriRuntime } from '../../../../src/cri.ts';
import { isRuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { RuntimeSubject } from '../../../support/runtime-contract/runtime-subject.ts';

const images = 'registry.k8s.io/e2e-test-images';

/** A containerd that tests can end and start. */
export interface ContainerdServer {
  readonly socketPath: string;
  /** The slice of its sandboxes, where it asks systemd for their cgroups. */
  readonly cgroupParent?: string;
  /** The text of a file of its node; empty while there is none. */
  readFile(path: string): Promise<string>;
  /** Ends it as a crash does; its containers go on. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A containerd through CriRuntime, in real time. */
export async function containerdSubject(containerd: ContainerdServer): Promise<RuntimeSubject> {
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
    ...(containerd.cgroupParent !== undefined && { cgroupParent: containerd.cgroupParent }),
    image: `${images}/busybox:1.36.1-1`,
    pullableImage: `${images}/kitten:1.8`,
    missingImage: 'registry.k8s.io/no-such-image:1',
    settled: (work) => work,
    until,
    now: () => Date.now(),
    readFile: (path) => containerd.readFile(path),
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
