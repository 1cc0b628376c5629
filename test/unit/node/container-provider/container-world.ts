import type { ContainerRun } from '../../../../src/node/container-provider/container-life.ts';
import { ContainerProvider } from '../../../../src/node/container-provider/container-provider.ts';
import type { ContainerSpec } from '../../../../src/node/provider/pod-provider.ts';
import type { ProviderPodSyncerOptions } from '../../../../src/node/provider/provider-pod-syncer-options.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ProviderWorld } from '../provider/provider-world.ts';

export const app = { name: 'app', image: 'app:1' };
export const init = (name: string, more: object = {}): object => ({ name, image: 'init:1', ...more });
export const sidecar = (name: string): object => init(name, { restartPolicy: 'Always' });

/** A run of a container that a test ends. */
export interface Run extends ContainerRun {
  readonly name: string;
  readonly spec: ContainerSpec;
  readonly exit: (exitCode?: number) => void;
  readonly fail: (error: unknown) => void;
}

/** A container provider in a {@link ProviderWorld}, whose containers end when a test says so. */
export class ContainerWorld implements AsyncDisposable {
  readonly node: ProviderWorld;
  readonly provider: ContainerProvider;
  /** Those that have not ended. */
  readonly running: Run[] = [];
  /** What happened, in order: `+NAME` a start, `-NAME` an end, `stop NAME` and `kill NAME` what a run was told. */
  readonly log: string[] = [];

  constructor(earlier?: ContainerWorld, options: Partial<ProviderPodSyncerOptions> = {}) {
    const [now, elapsed] = [() => this.node.clock.now(), () => this.node.clock.elapsed()];
    const clock = { now, elapsed, setTimer: this.#setTimer.bind(this) };
    this.provider = new ContainerProvider({ runContainer: (spec, run) => this.#run(spec, run), clock });
    this.node = new ProviderWorld({ provider: this.provider, ...options }, earlier?.node, earlier !== undefined);
    this.provider.notifyPods((pod) => this.node.syncer.notice(String(pod)), this.node.tools);
  }

  /** The one run of this name. */
  run(name: string): Run {
    const [run, ...others] = this.running.filter((each) => each.name === name);
    if (run === undefined || others.length > 0) throw new Error(`${others.length + (run ? 1 : 0)} runs of ${name}`);
    return run;
  }

  async exit(name: string, exitCode?: number): Promise<void> {
    this.run(name).exit(exitCode);
    await settle(20);
  }

  took(): string[] {
    return this.log.splice(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node.stop();
    for (const { exit } of this.running.slice()) exit();
    await this.provider.close({ gracePeriodSeconds: 0 });
  }

  #setTimer(...timer: Parameters<ProviderWorld['clock']['setTimer']>): () => void {
    return this.node.clock.setTimer(...timer);
  }

  #run(spec: ContainerSpec, call: ContainerRun): Promise<number | undefined> {
    const { name } = spec;
    this.log.push(`+${name}`);
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    call.stop.addEventListener('abort', () => this.log.push(`stop ${name}`));
    call.kill.addEventListener('abort', () => this.log.push(`kill ${name}`));
    const run = { name, spec, ...call, exit: resolve, fail: reject };
    this.running.push(run);
    const over = (): void => {
      this.log.push(`-${name}`);
      this.running.splice(this.running.indexOf(run), 1);
    };
    promise.then(over, over);
    return promise;
  }
}
