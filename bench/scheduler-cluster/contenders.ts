import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { SupervisedProcess } from '../../test/support/control-plane/supervised-process.ts';

export const contenders = ['kubeScheduler', 'ours'] as const;
export type Contender = (typeof contenders)[number];
export const namesOfContenders: Readonly<Record<Contender, string>> = {
  kubeScheduler: 'kube-scheduler v1.36.3',
  ours: 'ClusterScheduler',
};

/** A scheduler of its own process. */
export interface SchedulerProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/** The same for both: so many requests a second, so high that the limit is not what is measured. */
export const clientLimit = { qps: 5000, burst: 5000 };

/** Without leader election: nobody else is there. It may not be ready yet when this resolves. */
export async function startScheduler(controlPlane: ControlPlane, contender: Contender): Promise<SchedulerProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-scheduler-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await controlPlane.writeKubeconfig(kubeconfig);
  const started = contender === 'ours' ? await startOurs(kubeconfig) : await startKubeScheduler(dir, kubeconfig);
  return {
    pid: started.pid,
    async stop() {
      await started.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startOurs(kubeconfig: string): Promise<SchedulerProcess> {
  const { qps, burst } = clientLimit;
  const file = fileURLToPath(new URL('./own-worker.ts', import.meta.url));
  const worker = fork(file, [kubeconfig, String(qps), String(burst)]);
  const ended = once(worker, 'exit');
  return {
    pid: worker.pid ?? 0,
    async stop() {
      worker.kill('SIGTERM');
      await ended;
    },
  };
}

/** The binary that the node kit has built. */
async function startKubeScheduler(dir: string, kubeconfig: string): Promise<SchedulerProcess> {
  const command = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'node-kit/bin/kube-scheduler');
  await access(command).catch(() => Promise.reject(new Error(`${command} is not there: test/peers/node-kit/build.sh builds it`)));
  const config = join(dir, 'config.yaml');
  await writeFile(config, configuration(kubeconfig));
  const logFile = join(dir, 'kube-scheduler.log');
  return SupervisedProcess.start({ command, args: [`--config=${config}`, '--secure-port=0'], logFile });
}

const configuration = (kubeconfig: string) => `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: ${kubeconfig}
  qps: ${clientLimit.qps}
  burst: ${clientLimit.burst}
`;
