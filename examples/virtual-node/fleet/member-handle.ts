import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describeError } from '../journal.ts';
import type { FleetCloud } from './fleet-cloud.ts';
import type { FromMember, MemberSettings, MemberState, ToMember } from './messages.ts';

const program = fileURLToPath(new URL('member-program.ts', import.meta.url));

export interface MemberParts {
  readonly cloud: FleetCloud;
  /** Gets what the member warns of. */
  readonly warn: (text: string) => void;
}

/** A member's process, as the run sees it. */
export class MemberHandle {
  readonly id: string;
  /** Its debug page; rejects where the process ends before that. Resolves to undefined without a port. */
  readonly page: Promise<string | undefined>;
  readonly #child: ChildProcess;
  readonly #parts: MemberParts;
  readonly #ended: Promise<unknown>;
  readonly #page = Promise.withResolvers<string | undefined>();
  #state: MemberState | undefined;
  #isFrozen = false;
  #isLeaving = false;

  constructor(settings: MemberSettings, parts: MemberParts) {
    this.id = settings.id;
    this.#parts = parts;
    this.page = this.#page.promise;
    this.page.catch(() => {});
    if (settings.debugPort === undefined) this.#page.resolve(undefined);
    this.#child = fork(program, [JSON.stringify(settings)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#child.stderr?.on('data', (chunk) => parts.warn(`${this.id}: ${String(chunk).trim()}`));
    this.#child.on('message', (text) => {
      const message: FromMember = JSON.parse(String(text));
      this.#take(message);
    });
    this.#ended = once(this.#child, 'exit');
    void this.#ended.then(() => this.#page.reject(new Error(`${this.id} has ended before it was reached`)));
  }

  /** Undefined before the member has told of itself, and once it has ended or is frozen. */
  get state(): MemberState | undefined {
    return this.isAlive && !this.#isFrozen ? this.#state : undefined;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  tell(message: ToMember): void {
    if (this.#child.connected) this.#child.send(JSON.stringify(message), () => {});
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Ends it in peace: it hands its nodes over. */
  async stop(): Promise<void> {
    this.#isLeaving = true;
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  freeze(): void {
    this.#isFrozen = true;
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#isFrozen = false;
    this.#child.kill('SIGCONT');
  }

  #take(message: FromMember): void {
    if (message.kind === 'state') this.#state = message.state;
    else if (message.kind === 'page') this.#page.resolve(message.url);
    else if (message.kind === 'warning') this.#parts.warn(message.text);
    else this.#answer(message);
  }

  #answer({ id, asked }: Extract<FromMember, { readonly kind: 'call' }>): void {
    try {
      this.tell({ kind: 'answer', id, pods: this.#parts.cloud.take(asked, this.id), failure: undefined });
    } catch (error) {
      this.tell({ kind: 'answer', id, pods: [], failure: describeError(error) });
    }
  }
}
