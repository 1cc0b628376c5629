// Behaviour of pkg/kubelet/lifecycle/handlers.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { containerPort } from '../../node/probes/network-prober.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import { podText } from './pod-text.ts';
import { requestHook } from './request-hook.ts';

export type LifecycleHandler = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;

/** Which hook is run, and where. */
export interface HookRequest {
  readonly pod: Pod;
  readonly container: Container;
  /** As the runtime names it. */
  readonly containerID: string;
  readonly handler: LifecycleHandler;
  /** The pod's address; undefined where it has none. */
  readonly podIP: string | undefined;
}

export interface LifecycleHooksOptions {
  readonly runtime: Pick<ContainerRuntime, 'execSync'>;
  readonly clock: Clock;
}

const decoder = new TextDecoder();
/** So much of what a command says is told, in bytes of each of its outputs: it is kept, and becomes part of the pod's status. */
const longestHookOutput = 4096;

/** Runs the hooks of containers: a command, a request, or a pause. */
export class LifecycleHooks {
  readonly #options: LifecycleHooksOptions;

  constructor(options: LifecycleHooksOptions) {
    this.#options = options;
  }

  /** Resolves once the hook has succeeded. Rejects with a message in the kubelet's words, or with the signal's reason. */
  async run(request: HookRequest, signal: AbortSignal): Promise<void> {
    const { container, handler, pod } = request;
    const of = `for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(podText(pod))} failed - error:`;
    if (handler.exec) await this.#exec(request, handler.exec.command ?? [], of, signal);
    else if (handler.httpGet) {
      try {
        await requestHook(addressOf(request, handler.httpGet), signal);
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`HTTP lifecycle hook (${handler.httpGet.path ?? ''}) ${of} ${errorText(error)}`, { cause: error });
      }
    } else if (handler.sleep) {
      await sleep(this.#options.clock, handler.sleep.seconds * 1000, signal);
      signal.throwIfAborted();
    } else throw new Error('Cannot run handler: invalid handler');
  }

  async #exec({ containerID }: HookRequest, command: readonly string[], of: string, signal: AbortSignal): Promise<void> {
    const failed = (why: string, output: string, cause?: unknown): Error =>
      new Error(`Exec lifecycle hook ([${command.join(' ')}]) ${of} ${why}, message: ${JSON.stringify(output)}`, { cause });
    let result: Awaited<ReturnType<ContainerRuntime['execSync']>>;
    try {
      result = await this.#options.runtime.execSync(containerID, command, 0, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw failed(errorText(error), '', error);
    }
    const { exitCode, stdout, stderr } = result;
    if (exitCode === 0) return;
    const errors = decoder.decode(stderr.subarray(0, longestHookOutput));
    const output = decoder.decode(stdout.subarray(0, longestHookOutput)) + errors;
    throw failed(`command '${command.join(' ')}' exited with ${exitCode}: ${errors}`, output);
  }
}

function addressOf({ container, podIP }: HookRequest, { host, port, path, scheme, httpHeaders }: HttpGet) {
  const to = host || podIP;
  if (!to) throw new Error('failed to find networking container: the pod has no IP address');
  return {
    scheme: scheme?.toLowerCase() || 'http',
    host: to,
    port: containerPort(port, container),
    path: path ?? '',
    headers: httpHeaders ?? [],
  };
}

type HttpGet = NonNullable<LifecycleHandler['httpGet']>;
