import { type GivenContainer, type NodePod, type PodProvider, ProviderNode } from '../../../src/node.ts';
import type { FleetWorld } from './fleet-world.ts';
import type { MemberProcess } from './member-process.ts';

const lookEveryMs = 50;

interface Run {
  readonly container: string;
  readonly member: MemberProcess;
  readonly startedAt: Date;
  exitCode?: number;
}

/**
 * A node of the world's cluster, each of whose pods is a member of the fleet, in a process of its own: its id is the value of the variable
 * POD_NAME of the pod's container. It stands for a kubelet: a member is ready once it says so, and gets SIGTERM when its pod is to end,
 * and SIGKILL after the grace period.
 */
export class MemberMachine implements AsyncDisposable {
  readonly #world: FleetWorld;
  readonly #runs = new Map<string, Run>();
  readonly #node: ProviderNode;

  private constructor(world: FleetWorld, nodeName: string) {
    this.#world = world;
    const kubeConfig = world.servers.controlPlane.kubeConfig();
    this.#node = new ProviderNode({ kubeConfig, nodeName, provider: this.#provider(), logger: null });
  }

  static async start(world: FleetWorld, nodeName: string): Promise<MemberMachine> {
    const machine = new MemberMachine(world, nodeName);
    await machine.#node.start();
    return machine;
  }

  /** The pods' processes stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#node.stop();
  }

  #provider(): PodProvider {
    return {
      createPod: (pod) => this.#create(pod),
      deletePod: (pod, { gracePeriodSeconds }) => this.#delete(pod, gracePeriodSeconds),
      getPodStatus: ({ metadata }) => {
        const run = this.#runs.get(metadata.uid);
        return run && [containerOf(run)];
      },
      notifyPods: (notify) => {
        const isReady = new Map<string, boolean>();
        const looks = setInterval(() => {
          for (const [uid, { member }] of this.#runs) {
            if (isReady.get(uid) === member.hasStarted) continue;
            isReady.set(uid, member.hasStarted);
            notify(uid);
          }
        }, lookEveryMs);
        looks.unref();
      },
    };
  }

  async #create({ metadata, spec }: NodePod): Promise<void> {
    const [container] = spec.containers;
    const id = container?.env?.find(({ name }) => name === 'POD_NAME')?.value;
    if (container === undefined || id === undefined) throw new Error(`the pod ${metadata.name} has no variable POD_NAME`);
    const member = await this.#world.addMember(id);
    this.#runs.set(metadata.uid, { container: container.name, member, startedAt: new Date() });
  }

  async #delete({ metadata }: NodePod, gracePeriodSeconds: number): Promise<GivenContainer[]> {
    const run = this.#runs.get(metadata.uid);
    if (run === undefined) return [];
    const insist = setTimeout(() => void run.member.kill(), gracePeriodSeconds * 1000);
    const said = await run.member.stop();
    clearTimeout(insist);
    run.exitCode = said === undefined ? 137 : 0;
    this.#runs.delete(metadata.uid);
    return [containerOf(run)];
  }
}

function containerOf({ container: name, member, startedAt, exitCode = 1 }: Run): GivenContainer {
  return member.isRunning
    ? { name, state: 'running', restartCount: 0, startedAt, ready: member.hasStarted }
    : { name, state: 'exited', restartCount: 0, startedAt, exitCode };
}
