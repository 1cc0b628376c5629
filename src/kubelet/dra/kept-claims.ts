import type { SteadyClock } from '../../base/clock.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { CheckpointWriter } from '../../node/files/checkpoint-writer.ts';
import { helped } from '../../node/problem-help.ts';
import { claimCheckpointText, type KeptClaim, readClaimCheckpoint } from './claim-checkpoint.ts';
import type { DraDevice } from './dra-driver.ts';

export interface KeptClaimsOptions {
  /** The file `dra_manager_state` of the kubelet. */
  readonly path: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** A claim that this node has, or is about to have. Only who has its turn changes it. */
export interface HeldClaim extends KeptClaim {
  readonly podUIDs: Set<string>;
  readonly drivers: Map<string, readonly DraDevice[]>;
  /** True: all its drivers have made it ready since this process has begun. */
  isPrepared: boolean;
}

/**
 * The claims that drivers of this node were asked for, and the pods that use them. They are read from the disk before the first is looked
 * at: while that fails, nothing is known. Whoever changes a claim has its turn.
 */
export class KeptClaims {
  readonly #options: KeptClaimsOptions;
  readonly #turns = new OneAtATime();
  readonly #claims = new Map<string, HeldClaim>();
  readonly #failures: FailureRun;
  readonly #writer: CheckpointWriter;
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #isSaved = true;

  constructor(options: KeptClaimsOptions) {
    this.#options = options;
    const { path, clock, logger } = options;
    this.#failures = new FailureRun(clock, (ended) => logger.info(ended, 'the file of resource claims can be used again'));
    const text = (): string => this.#textToWrite();
    this.#writer = new CheckpointWriter({ path, text, folderMode: 0o750, ended: (error) => this.#writeEnded(error) });
  }

  /** Why the file cannot be read or written; undefined while it can. */
  get failing(): Failing | undefined {
    return this.#failures.failing;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** False: what is on the disk is older than what is known. */
  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** Rejects while nobody can say what the node has. The next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  get(namespace: string, name: string): HeldClaim | undefined {
    return this.#claims.get(keyOf({ namespace, name }));
  }

  all(): readonly HeldClaim[] {
    return [...this.#claims.values()];
  }

  of(podUID: string): readonly HeldClaim[] {
    return this.all().filter(({ podUIDs }) => podUIDs.has(podUID));
  }

  add(claim: HeldClaim): void {
    this.#claims.set(keyOf(claim), claim);
  }

  delete(claim: KeptClaim): void {
    if (this.#claims.get(keyOf(claim)) === claim) this.#claims.delete(keyOf(claim));
  }

  /** Works on claims once everything that came earlier for any of them has ended. */
  inTurn<T>(claims: readonly Pick<KeptClaim, 'namespace' | 'name'>[], work: () => Promise<T>): Promise<T> {
    // all in one order, so that nobody waits for somebody who waits for him
    const keys = [...new Set(claims.map(keyOf))].sort();
    const turns = keys.reduceRight<() => Promise<T>>((inner, key) => () => this.#turns.run(key, inner), work);
    return turns();
  }

  /** Resolves once all that is known now is on the disk. Who comes while a write waits shares it. */
  save(): Promise<void> {
    this.#isSaved = false;
    return this.#writer.save();
  }

  #textToWrite(): string {
    this.#isSaved = true;
    return claimCheckpointText(this.#claims.values());
  }

  #writeEnded(error: unknown): void {
    if (error === undefined) {
      this.#failures.succeeded();
      return;
    }
    this.#isSaved = false;
    this.#failed(error);
  }

  async #open(): Promise<void> {
    const { path } = this.#options;
    try {
      for (const claim of await readClaimCheckpoint(path)) {
        const { podUIDs, drivers } = claim;
        this.add({ ...claim, podUIDs: new Set(podUIDs), drivers: new Map(drivers), isPrepared: false });
      }
    } catch (err) {
      this.#failed(err);
      throw err;
    }
    this.#failures.succeeded();
    this.#isOpen = true;
  }

  #failed(err: unknown): void {
    const { path, clock, logger } = this.#options;
    const isFirst = this.#failures.failing === undefined;
    const problem = problemFields({ ...this.#failures.failed(err), ...helped('claims-file') }, clock.now());
    if (isFirst)
      logger.error({ err, path, ...problem }, 'the file of resource claims cannot be used; pods that ask for claims wait');
  }
}

function keyOf({ namespace, name }: Pick<KeptClaim, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
