import type { ApiServer } from '../../support/control-plane/api-server.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import type { Disturbance, FaultTarget, ServerAccess } from './fault-target.ts';
import { OwnControlPlane } from './own-control-plane.ts';
import { pause } from './pause.ts';

/** How long the second kube-apiserver hears nothing from etcd, or stands still. */
const lagMs = 2500;

/**
 * Two kube-apiservers over one etcd, behind a balancer that gives each connection to the other one. The second reaches etcd
 * by a relay that can hold back etcd's answers and events: its watch cache then lags behind the first one's, while its own
 * writes still reach etcd.
 */
export class TwoApiServersTarget implements FaultTarget {
  readonly kind = 'two-apiservers';
  readonly #plane: OwnControlPlane;
  readonly #second: ApiServer;
  readonly #etcdRelay: TcpRelay;
  readonly #balancer: TcpRelay;
  readonly #rounds: number;

  private constructor(plane: OwnControlPlane, second: ApiServer, etcdRelay: TcpRelay, balancer: TcpRelay, rounds: number) {
    this.#plane = plane;
    this.#rounds = rounds;
    this.#second = second;
    this.#etcdRelay = etcdRelay;
    this.#balancer = balancer;
  }

  /** Every disturbance of the two comes `rounds` times. */
  static async start({ rounds = 3 }: { rounds?: number } = {}): Promise<TwoApiServersTarget> {
    const plane = await OwnControlPlane.start();
    const { servers } = plane;
    const etcdRelay = await TcpRelay.to(servers.etcdUrl);
    try {
      const second = await servers.startAnotherApiServer({ etcdUrl: etcdRelay.url });
      const balancer = await TcpRelay.to(servers.url, second.url);
      return new TwoApiServersTarget(plane, second, etcdRelay, balancer, rounds);
    } catch (error) {
      await etcdRelay[Symbol.asyncDispose]();
      await plane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The balancer's. */
  get url(): string {
    return this.#balancer.url;
  }

  get access(): ServerAccess {
    return this.#plane;
  }

  disturbances(): Disturbance[] {
    const round: Disturbance[] = [
      { kind: 'second apiserver lags', run: () => this.#lag() },
      { kind: 'all connections to the second apiserver', run: async () => this.#balancer.switchTo(1) },
      { kind: 'second apiserver lags', run: () => this.#lag() },
      { kind: 'connections in turn again', run: async () => this.#balancer.switchTo(undefined) },
      { kind: 'second apiserver paused', run: () => this.#pauseSecond() },
      { kind: 'all connections to the first apiserver', run: async () => this.#balancer.switchTo(0) },
      { kind: 'second apiserver restarted', run: () => this.#second.restart({ signal: 'SIGKILL' }) },
      { kind: 'all connections to the restarted apiserver', run: async () => this.#balancer.switchTo(1) },
      { kind: 'first apiserver killed', run: () => this.#plane.killApiServer() },
      { kind: 'connections in turn again', run: async () => this.#balancer.switchTo(undefined) },
    ];
    return Array.from({ length: this.#rounds }, () => round).flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#balancer[Symbol.asyncDispose]();
    await this.#plane[Symbol.asyncDispose]();
    await this.#etcdRelay[Symbol.asyncDispose]();
  }

  async #lag(): Promise<void> {
    this.#etcdRelay.hold();
    await pause(lagMs);
    this.#etcdRelay.release();
  }

  async #pauseSecond(): Promise<void> {
    this.#second.pause();
    await pause(lagMs);
    this.#second.resume();
  }
}
