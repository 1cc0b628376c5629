import { randomUUID } from 'node:crypto';
import type { ContainerConfig, ContainerDetails } from '../../../src/kubelet/runtime/runtime-containers.ts';
import type { PodSandboxConfig } from '../../../src/kubelet/runtime/runtime-sandboxes.ts';
import { containerConfigOf, sandboxConfigOf } from '../runtime-configs.ts';
import { type ContractLifeName, commandOf } from './contract-lives.ts';
import type { RuntimeSubject } from './runtime-subject.ts';

/** A pod with a sandbox of its own, which no other test has. */
export class ContractPod {
  readonly uid: string;
  readonly config: PodSandboxConfig;
  readonly sandboxID: string;
  readonly #subject: RuntimeSubject;

  private constructor(subject: RuntimeSubject, config: PodSandboxConfig, sandboxID: string) {
    this.#subject = subject;
    this.config = config;
    this.uid = config.metadata.uid;
    this.sandboxID = sandboxID;
  }

  static async run(subject: RuntimeSubject, more: Partial<PodSandboxConfig> = {}): Promise<ContractPod> {
    const config = contractSandbox(subject, randomUUID(), 0, more);
    return new ContractPod(subject, config, await subject.settled(subject.runtime.runPodSandbox(config, '')));
  }

  /** What a container of this pod is made from. */
  container(life: ContractLifeName, more: Partial<ContainerConfig> = {}): ContainerConfig {
    const { name = 'app', attempt = 0 } = more.metadata ?? {};
    const image = { image: this.#subject.image };
    return { ...containerConfigOf(this.uid, name, attempt, { image, command: commandOf(life) }), ...more };
  }

  /** Makes a container, and gives its id. */
  create(life: ContractLifeName, more: Partial<ContainerConfig> = {}): Promise<string> {
    const made = this.#subject.runtime.createContainer(this.sandboxID, this.container(life, more), this.config);
    return this.#subject.settled(made);
  }

  /** Makes and starts a container, and gives its id. */
  async start(life: ContractLifeName, more: Partial<ContainerConfig> = {}): Promise<string> {
    const id = await this.create(life, more);
    await this.#subject.settled(this.#subject.runtime.startContainer(id));
    return id;
  }

  /** The container once it has ended. */
  async ended(id: string): Promise<ContainerDetails> {
    await this.#subject.until(async () => (await this.#subject.runtime.containerStatus(id)).state === 'exited');
    return this.#subject.runtime.containerStatus(id);
  }
}

/** The sandbox of a pod, in a cgroup that the subject can make. */
export function contractSandbox(
  subject: RuntimeSubject,
  uid: string,
  attempt = 0,
  more: Partial<PodSandboxConfig> = {},
): PodSandboxConfig {
  const config = sandboxConfigOf(uid, attempt, more);
  const { cgroupParent = config.linux.cgroupParent } = subject;
  return { ...config, linux: { ...config.linux, cgroupParent } };
}

/** What a call rejects with. */
export async function failureOf(subject: RuntimeSubject, call: Promise<unknown>): Promise<unknown> {
  return subject.settled(
    call.then(
      () => {
        throw new Error('the call has not failed');
      },
      (error: unknown) => error,
    ),
  );
}
