import type { WirePod } from '../../../src/index.ts';
import type { AdminClient } from '../../support/admin-client.ts';
import { podOf } from '../../support/answers.ts';
import { type Checker, ownerOf } from '../chaos/check/checker.ts';
import type { Prng } from '../chaos/prng.ts';
import type { Found } from '../chaos/rules.ts';
import type { Ledger } from '../chaos/said/ledger.ts';
import { markOf } from '../chaos/said/plain-status.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { NodeAgent } from './node-agent.ts';
import { pause } from './pause.ts';

export interface CheckpointParts {
  readonly agent: Pick<NodeAgent, 'manager' | 'uids' | 'unrequested'>;
  readonly proxy: Pick<FaultProxy, 'lateWriteOn'>;
  readonly admin: AdminClient;
  readonly ledger: Ledger;
  readonly checker: Checker;
  readonly prng: Prng;
  readonly found: Found;
}

const podsAtOnce = 8;
const flushMs = 2000;

/** Flushes some pods now and then, and compares each status that counts as written with the server's, whole. */
export class Checkpoints {
  /** Statuses that were compared with the server's. */
  count = 0;
  /** Of these, those that a late PATCH had overwritten. */
  overwritten = 0;
  readonly #parts: CheckpointParts;
  #running = true;
  #loop: Promise<unknown> | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async finish(): Promise<void> {
    this.#running = false;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (this.#running) {
      await pause(this.#parts.prng.between(50, 300));
      const uids = this.#parts.prng.shuffled(this.#parts.agent.uids).slice(0, podsAtOnce);
      // a flush that rejects, or a server that fails, leaves nothing to compare
      await Promise.all(uids.map((uid) => this.#check(uid).catch(() => {})));
    }
  }

  async #check(uid: string): Promise<void> {
    const { agent, admin, ledger, checker, found } = this.#parts;
    const life = ledger.life(uid);
    const said = life && ledger.newest(life.owner);
    // a mirror pod that was created again shows its status a moment later
    if (life === undefined || said === undefined || life.isStatic) return;
    const { held } = await agent.manager.flush({ podUID: uid, timeoutMs: flushMs });
    if (held.length > 0) return;
    const pod = podOf(await admin.getPod(life.namespace, life.name));
    if (ownerOf(pod) !== life.owner || agent.manager.getPodStatus(uid) === undefined) return;
    this.count++;
    if (checker.shows(pod, said.number)) return;
    if (this.#wasOverwrittenSince(pod)) {
      this.overwritten++;
      return;
    }
    const { reason } = agent.manager.explain(uid);
    found('flush resolves when everything is there', `${life.name} (${uid}) is not as it was said before flush(); ${reason}`);
  }

  /** The status on the server is the one that a late PATCH wrote. */
  #wasOverwrittenSince(pod: WirePod): boolean {
    const uid = pod.metadata?.uid ?? '';
    const late = this.#parts.proxy.lateWriteOn(uid);
    return this.#parts.agent.unrequested.isOverwritten(uid, late?.at) && late?.mark === markOf(pod.status);
  }
}
