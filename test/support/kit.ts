import { execFile, spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where the kit's scripts lie: the project's own copy, or the folder that NODE_KIT_HOME names. */
const home = process.env.NODE_KIT_HOME ?? fileURLToPath(new URL('../peers/node-kit', import.meta.url));

export interface KitOptions {
  /** The folder of this kit's processes; nothing else may lie in it. Default: a folder under the temporary one. */
  readonly run?: string;
  /** Who is the node: `none`, `kubelet`, or a shell command. Default `none`. */
  readonly agent?: string;
  /** True: the apiserver writes each request of the node's user into `audit.log` of the run folder. */
  readonly audited?: boolean;
}

/** Only what the node asks, when it arrives. Watches count once. */
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
- {level: Metadata, users: ["system:node:node-kit"]}
- {level: None}
`;

/** A one-node Kubernetes in namespaces of its own. Needs root. */
export class Kit implements AsyncDisposable {
  readonly run: string;

  private constructor(folder: string) {
    this.run = folder;
  }

  static async start({ run: folder, agent = 'none', audited = false }: KitOptions = {}): Promise<Kit> {
    const kit = new Kit(folder ?? join(tmpdir(), `kit-${process.pid}`));
    const policy = `${kit.run}.audit-policy.yaml`;
    const args = [`--audit-policy-file=${policy}`, '--audit-log-path=audit.log', '--audit-log-mode=blocking'];
    if (audited) await writeFile(policy, auditPolicy);
    // who compares node agents starts the kubelet later
    const env = { ...process.env, NODE_KIT_KUBELET: '1', ...(audited && { NODE_KIT_APISERVER_ARGS: args.join(' ') }) };
    await run(join(home, 'up.sh'), ['--agent', agent, '--run', kit.run], { env, maxBuffer: 1 << 26 });
    return kit;
  }

  /** Runs a command as a process of the node. Its standard error is this process's; resolves with its standard output. */
  enter(command: readonly string[]): Promise<string> {
    const child = spawn(join(home, 'enter.sh'), command, {
      env: { ...process.env, NODE_KIT_RUN: this.run },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        if (code === 0) resolve(text);
        else reject(new Error(`${command.slice(0, 3).join(' ')} ended with ${code} in the kit`));
      });
    });
  }

  /** A file of the run folder. */
  read(name: string): Promise<string> {
    return readFile(join(this.run, name), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run(join(home, 'down.sh'), ['--run', this.run]);
    await rm(`${this.run}.audit-policy.yaml`, { force: true });
  }
}
