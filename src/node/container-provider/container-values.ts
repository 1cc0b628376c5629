import { lookupByName } from '../../api/json/json.ts';
import { containersOfPod } from '../../api/pod/pod-containers.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { problemFields } from '../../base/problem.ts';
import type { HeldPod } from '../provider/held-pod.ts';
import { PodHeldError } from '../provider/pod-held-error.ts';
import type { ContainerSpec, NodePod } from '../provider/pod-provider.ts';
import { heldProblem } from '../provider/provider-problems.ts';
import { containerFieldPath } from '../workers/restart-backoff.ts';
import type { ReportTools } from './run-report.ts';

export interface ContainerValuesOptions {
  readonly pod: NodePod;
  readonly spec: ContainerSpec;
  readonly tools: () => ReportTools;
  readonly clock: SteadyClock;
  /** Aborts when the container is not to be started any more. */
  readonly ending: AbortSignal;
}

/** Why a container waits, as its status says it. */
export interface ContainerWait {
  readonly reason: string;
  readonly message: string;
}

/** The waits of a run whose secret or config map is missing. */
const retries = { firstMs: 1000, longestMs: 10_000 };
/** What is known to be missing. Where the apiserver cannot be asked, a container starts with what it had, as with a kubelet. */
const missing: readonly string[] = ['secret-missing', 'config-map-missing', 'key-missing'];

/** What one container is started with: first what its pod was handed over with, then, before each further run, what is there now. */
export class ContainerValues {
  readonly #options: ContainerValuesOptions;
  #pod: NodePod;
  #spec: ContainerSpec;

  constructor(options: ContainerValuesOptions) {
    this.#options = options;
    this.#pod = options.pod;
    this.#spec = options.spec;
  }

  get pod(): NodePod {
    return this.#pod;
  }

  get spec(): ContainerSpec {
    return this.#spec;
  }

  /** Resolves once there are values for the next run, or it is not to begin any more. `waits` is called when the run has to wait. Never rejects. */
  async renew(waits: (wait: ContainerWait) => void): Promise<void> {
    const { pod, spec, tools, clock, ending } = this.#options;
    const { resolvePod } = tools();
    if (resolvePod === undefined) return;
    const since = clock.now();
    let told: string | undefined;
    for (let tries = 1; !ending.aborted; tries += 1) {
      try {
        this.#take(await untilAborted(resolvePod(pod, { signal: ending, containers: [spec.name] }), ending));
        if (told !== undefined) this.#tellOfEnd({ attempt: tries - 1, since });
        return;
      } catch (error) {
        if (ending.aborted || !(error instanceof PodHeldError) || !missing.includes(error.held.kind)) return;
        const { held } = error;
        const delayMs = nthDelayMs(tries, retries);
        waits(held.waits.get(spec.name) ?? { reason: 'CreateContainerConfigError', message: held.message });
        if (told !== held.message) this.#tell(held, { attempt: tries, since, retryAt: clock.now() + delayMs });
        told = held.message;
        await sleep(clock, delayMs, ending);
      }
    }
  }

  /** What else of a pod has changed is left alone. */
  #take(pod: NodePod): void {
    const { env, command, args } = lookupByName(containersOfPod(pod))(this.#options.spec.name) ?? {};
    const { env: _env, command: _command, args: _args, ...rest } = this.#spec;
    this.#spec = { ...rest, ...(env && { env }), ...(command && { command }), ...(args && { args }) } as ContainerSpec;
    const { files, volumeFolders } = pod;
    this.#pod = { ...this.#pod, ...(files && { files }), ...(volumeFolders && { volumeFolders }) };
  }

  #tellOfEnd(failed: { readonly attempt: number; readonly since: number }): void {
    const { pod, spec, tools, clock } = this.#options;
    const { logger, recoveries } = tools();
    if (recoveries?.take() === false) return;
    const fields = { ...podFields(pod.metadata), containerName: spec.name, ...endedFailures(failed, clock.now()) };
    logger.info(fields, 'a container has what it waited for');
  }

  #tell(held: HeldPod, times: { readonly attempt: number; readonly since: number; readonly retryAt: number }): void {
    const { pod, spec, tools, clock } = this.#options;
    const { eventRecorder, logger } = tools();
    const path = containerFieldPath(pod, spec.name);
    for (const { reason, message } of held.events) eventRecorder.event(pod, 'Warning', reason, message, path);
    const { kind, message, help } = held;
    const problem = problemFields(heldProblem({ kind, message, help, ...times }), clock.now());
    const fields = { ...podFields(pod.metadata), containerName: spec.name, ...problem, reason: message };
    logger.warn(fields, 'a container waits for what it refers to');
  }
}
