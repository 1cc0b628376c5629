import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownAgentCommand } from '../../../support/own-agent.ts';

const scripts = fileURLToPath(new URL('../../../peers/node-kit/', import.meta.url));

/** The command that starts the example as the kit's node agent. The variables are the kit's. It needs the built package. */
export function ownAgent(): string {
  return [
    `exec ${ownAgentCommand()}`,
    '--config "$NODE_KIT_KUBELET_CONFIG" --kubeconfig "$NODE_KIT_KUBECONFIG"',
    '--hostname-override "$NODE_KIT_NODE" --node-ip "$NODE_KIT_NODE_IP"',
  ].join(' ');
}

/** The command that starts the example in the place of kube-scheduler. It needs the built package. */
export function ownScheduler(): string {
  const main = fileURLToPath(new URL('../../../../examples/scheduler/main.ts', import.meta.url));
  return `exec '${process.execPath}' '${main}' --kubeconfig "$NODE_KIT_SCHEDULER_KUBECONFIG" --leader-elect=false`;
}

export interface NodeKitOptions {
  /** The folder of this run. */
  readonly run: string;
  /** `none`, `kubelet` (the real one) or the shell command that is the node agent. */
  readonly agent: string;
  /** The shell command that is the scheduler. Default: the real one. */
  readonly scheduler?: string;
  /** Ends the start; what was started ends with it. */
  readonly signal?: AbortSignal;
}

/** How a program of the kit ended. */
export interface EndedScript {
  readonly code: number;
}

/** A one-node cluster in namespaces of its own: see test/peers/node-kit/README.md. */
export class NodeKit {
  readonly run: string;

  readonly #env: Readonly<Record<string, string>>;

  private constructor(run: string, scheduler?: string) {
    this.run = run;
    this.#env = scheduler === undefined ? {} : { NODE_KIT_SCHEDULER: scheduler };
  }

  /** Builds what is not built yet, and starts everything. Rejects when the node is not ready in time. */
  static async start({ run, agent, scheduler, signal }: NodeKitOptions): Promise<NodeKit> {
    const kit = new NodeKit(run, scheduler);
    try {
      const { code } = await kit.script('up.sh', ['--run', run, '--agent', agent], signal);
      if (code !== 0) throw new Error(`the node kit did not start: see ${run}/log`);
      signal?.throwIfAborted();
      return kit;
    } catch (error) {
      await kit.stop({ keep: true });
      throw error;
    }
  }

  /** Ends a kit by the folder of its run, whoever started it. */
  static async end(run: string): Promise<void> {
    await new NodeKit(run).stop();
  }

  /** Runs a command as a process of the node, with this process's output. */
  enter(command: readonly string[], signal?: AbortSignal): Promise<EndedScript> {
    return this.script('enter.sh', command, signal);
  }

  /** Runs one of the kit's scripts, with this process's output. The signal ends it, and all that it started. */
  async script(name: string, args: readonly string[], signal?: AbortSignal): Promise<EndedScript> {
    signal?.throwIfAborted();
    const child = spawn(join(scripts, name), args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...this.#env, NODE_KIT_RUN: this.run },
      // a group of its own, so that it is ended with its children
      detached: true,
    });
    const end = (): void => endGroup(child);
    signal?.addEventListener('abort', end);
    try {
      return { code: await exitCode(child) };
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }

  /** Ends the first process of the namespaces, and all others with it. `keep`: the logs stay. */
  async stop({ keep = false }: { readonly keep?: boolean } = {}): Promise<void> {
    await this.script('down.sh', ['--run', this.run, ...(keep ? ['--keep'] : [])]);
  }
}

function exitCode(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', reject);
  child.once('close', (code) => resolve(code ?? 1));
  return promise;
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // it has ended
  }
}
