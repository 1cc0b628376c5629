import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { pollUntil } from '../../support/poll-until.ts';
import type { TestServer } from '../../support/servers.ts';
import type { ProcessOptions } from './scheduler-process.ts';

const withinMs = 60_000;
const script = new URL('./scheduler-process.ts', import.meta.url);

/** Schedulers in processes of their own, of which one has the Lease. */
export class Schedulers implements AsyncDisposable {
  readonly #server: Pick<TestServer, 'kubeConfig' | 'admin'>;
  readonly #namespace: string;
  readonly #fault: ProcessOptions['fault'];
  readonly #processes = new Map<string, ChildProcess>();

  constructor(server: Pick<TestServer, 'kubeConfig' | 'admin'>, namespace: string, fault?: ProcessOptions['fault']) {
    this.#server = server;
    this.#namespace = namespace;
    this.#fault = fault;
  }

  /** The name that their pods have in `schedulerName`. */
  get schedulerName(): string {
    return `scheduler-of-${this.#namespace}`;
  }

  /** Resolves once it knows the cluster. */
  async start(identity: string): Promise<void> {
    const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#processes.set(identity, child);
    const options: ProcessOptions = {
      kubeConfig: this.#server.kubeConfig().exportConfig(),
      identity,
      schedulerName: this.schedulerName,
      namespace: this.#namespace,
      ...(this.#fault !== undefined && { fault: this.#fault }),
    };
    child.send(options);
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error(`the scheduler ${identity} has ended`);
      }),
    ]);
  }

  /** Which of them has the Lease. After the end of one that could not give it up this waits until another one has it. */
  leader(): Promise<string> {
    let holder = '';
    const fact = async (): Promise<string | false> => {
      holder = await this.#holder();
      return this.#processes.has(holder) && holder;
    };
    return pollUntil('one of the schedulers has the Lease', fact, { withinMs, seen: () => holder });
  }

  async #holder(): Promise<string> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${this.#namespace}/leases/${this.schedulerName}`;
    const { body } = await this.#server.admin.send('GET', path);
    return (body as { spec?: { holderIdentity?: string } }).spec?.holderIdentity ?? '';
  }

  /** Kills the one that has the Lease, which it cannot give up, or any one where none of them asks for it. Resolves to its identity. */
  async killLeader(): Promise<string> {
    const [oldest = ''] = this.#processes.keys();
    const identity = this.#fault === undefined ? await this.leader() : oldest;
    const child = this.#processes.get(identity);
    this.#processes.delete(identity);
    if (child !== undefined) await killed(child);
    return identity;
  }

  /**
   * Stops the one that has the Lease in the middle of what it does, until another one has it and the function has resolved; then it goes
   * on, as if no time had passed.
   */
  async pauseLeader(meanwhile: () => Promise<void>): Promise<void> {
    const identity = await this.leader();
    const child = this.#processes.get(identity);
    this.#processes.delete(identity);
    child?.kill('SIGSTOP');
    try {
      await this.leader();
      await meanwhile();
    } finally {
      child?.kill('SIGCONT');
      if (child !== undefined) this.#processes.set(identity, child);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#processes.values(), killed));
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
