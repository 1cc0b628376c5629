import { execFile } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { SupervisedProcess } from '../../test/support/control-plane/supervised-process.ts';

export const contenders = ['kubeScheduler', 'ours', 'bareBindings'] as const;
export type Contender = (typeof contenders)[number];
export const namesOfContenders: Readonly<Record<Contender, string>> = {
  kubeScheduler: 'kube-scheduler v1.36.3',
  ours: 'examples/scheduler',
  bareBindings: 'bare bindings',
};

/** A scheduler of its own process. */
export interface SchedulerProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/** The same for both: so many requests a second, so high that the limit is not what is measured. */
export const clientLimit = { qps: 5000, burst: 5000 };

/** The programs of the contenders, as files. */
export interface Programs {
  readonly dir: string;
  readonly kubeScheduler: string;
  readonly ours: string;
  readonly bareBindings: string;
}

/** Runs Node.js as the image of docs/guides/second-scheduler.md does. */
const asInTheImage = ['env', 'MALLOC_ARENA_MAX=1', process.execPath, '--max-semi-space-size=4'];

/**
 * Builds what has to be built. Ours is the one file that an image gets, of the package as it is built. kube-scheduler is the binary that
 * the node kit has built.
 */
export async function preparePrograms(): Promise<Programs> {
  const kubeScheduler = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'node-kit/bin/kube-scheduler');
  const missing = `${kubeScheduler} is not there: test/peers/node-kit/build.sh builds it`;
  await access(kubeScheduler).catch(() => Promise.reject(new Error(missing)));
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-programs-'));
  const [ours, bareBindings] = [join(dir, 'scheduler.mjs'), join(dir, 'bare-bindings.mjs')];
  const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  await promisify(execFile)(process.execPath, [beside('../../examples/scheduler/build.ts'), ours]);
  await build({
    ...{ entryPoints: [beside('bare-worker.ts')], outfile: bareBindings, bundle: true, logLevel: 'warning' },
    ...{ platform: 'node', format: 'esm', target: 'node22.19' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return { dir, kubeScheduler, ours, bareBindings };
}

/** Without leader election: nobody else is there. It may not be ready yet when this resolves. */
export async function startScheduler(
  controlPlane: ControlPlane,
  contender: Contender,
  programs: Programs,
): Promise<SchedulerProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-scheduler-'));
  const [kubeconfig, config, logFile] = [join(dir, 'kubeconfig'), join(dir, 'config.yaml'), join(dir, 'scheduler.log')];
  await controlPlane.writeKubeconfig(kubeconfig);
  await writeFile(config, configuration(kubeconfig));
  const { url, token, caPem } = controlPlane;
  const args = [`--config=${config}`, '--secure-port=0'];
  const commands: Readonly<Record<Contender, readonly string[]>> = {
    kubeScheduler: [programs.kubeScheduler, ...args],
    ours: [...asInTheImage, programs.ours, ...args],
    bareBindings: [process.execPath, programs.bareBindings, url, token, caPem],
  };
  const [command = '', ...given] = commands[contender];
  const started = await SupervisedProcess.start({ command, args: given, logFile });
  return {
    pid: started.pid,
    async stop() {
      await started.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
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
