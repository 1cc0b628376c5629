import type { ContainerRun } from '../../../../src/node/container-provider/container-life.ts';
import { ContainerProvider, type ContainerProviderOptions } from '../../../../src/node/container-provider/container-provider.ts';
import type { ContainerLogRequest, ContainerSpec, NodePod } from '../../../../src/node/provider/pod-provider.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

export const call = { signal: new AbortController().signal };
export const newest: ContainerLogRequest = {
  follow: false,
  tailLines: undefined,
  sinceTime: undefined,
  timestamps: false,
  limitBytes: undefined,
  previous: false,
  stream: undefined,
};

export interface TestedRun extends ContainerRun {
  readonly name: string;
  readonly exit: (exitCode: number) => void;
}

/** All of a text that comes in pieces. */
export async function textOf(pieces: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += String(piece);
  return text;
}

/** A container provider without a node, whose containers end when a test says so. */
export class ConnectedProvider implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly runs: TestedRun[] = [];
  readonly provider: ContainerProvider;

  constructor(options: Partial<ContainerProviderOptions> = {}) {
    const runContainer = ({ name }: ContainerSpec, run: ContainerRun): Promise<number> => {
      const { promise, resolve } = Promise.withResolvers<number>();
      run.kill.addEventListener('abort', () => resolve(137));
      this.runs.push({ ...run, name, exit: resolve });
      return promise;
    };
    this.provider = new ContainerProvider({ runContainer, clock: this.clock, ...options });
  }

  /** A pod that has begun. */
  async begin(name = 'web', spec: Partial<NodePod['spec']> = {}): Promise<NodePod> {
    const containers = [{ name: 'app', image: 'app:1' }];
    const pod: NodePod = {
      metadata: { uid: name, name, namespace: 'default' },
      spec: { containers, nodeName: 'node-1', ...spec },
    };
    this.provider.createPod(pod);
    await settle();
    return pod;
  }

  /** The newest run. */
  get run(): TestedRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error('nothing has run');
    return run;
  }

  async exit(exitCode: number): Promise<void> {
    this.run.exit(exitCode);
    await settle();
  }

  /** What the provider answers of the log. */
  async log(pod: NodePod, request: Partial<ContainerLogRequest> = {}, container = 'app'): Promise<string> {
    const log = await this.provider.getContainerLogs(pod, container, { ...newest, ...request }, call);
    if (typeof log === 'string' || log instanceof Uint8Array) return String(log);
    return textOf(log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { exit } of this.runs) exit(0);
    await this.provider.close({ gracePeriodSeconds: 0 });
  }
}
