// An agent's own code, which the tests beside it test: each pod is one job, a function of this process.
import {
  BasicPodManager,
  type Clock,
  type Logger,
  type PodClient,
  StatusManager,
  systemClock,
  type WirePod,
} from 'pod-status-manager';
import { type GivenContainer, podStatusFromContainers } from 'pod-status-manager/node';

export interface JobAgentOptions {
  readonly podClient: PodClient;
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export class JobAgent {
  readonly #podManager = new BasicPodManager<WirePod>();
  readonly #manager: StatusManager;
  readonly #clock: Clock;
  /** The uids of the pods whose job has not ended. */
  readonly #running = new Set<string | undefined>();

  /** The client, the clock and the logger come from outside: that is all a test needs. */
  constructor({ podClient, clock = systemClock, logger }: JobAgentOptions) {
    this.#clock = clock;
    this.#manager = new StatusManager({
      podClient,
      podManager: this.#podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: ({ metadata }) => this.#running.has(metadata?.uid),
        podResourcesAreReclaimed: ({ metadata }) => !this.#running.has(metadata?.uid),
      },
      clock,
      ...(logger !== undefined && { logger }),
    });
    this.#manager.start();
  }

  /** Runs the job of a pod, and tells the apiserver how it ends. */
  async run(pod: WirePod, job: () => Promise<void>): Promise<void> {
    this.#podManager.addPod(pod);
    this.#running.add(pod.metadata?.uid);
    this.#tell(pod, { name: 'job', state: 'running' });
    const end = await job().then(
      () => ({ exitCode: 0 }),
      (error: unknown) => ({ exitCode: 1, message: String(error) }),
    );
    this.#running.delete(pod.metadata?.uid);
    this.#tell(pod, { name: 'job', state: 'exited', ...end });
  }

  /** Resolves once everything that was told is written. */
  async stop(): Promise<void> {
    await this.#manager.stop();
  }

  #tell(pod: WirePod, container: GivenContainer): void {
    const previous = this.#manager.getPodStatus(pod.metadata?.uid ?? '');
    this.#manager.setPodStatus(pod, podStatusFromContainers(pod, [container], { previous, clock: this.#clock }));
  }
}
