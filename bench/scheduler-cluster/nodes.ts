import type { AdminClient } from '../../test/support/admin-client.ts';
import { withWorkers } from './with-workers.ts';

const resources = { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' };
const zones = 3;

const nameOf = (index: number) => `node-${String(index).padStart(4, '0')}`;

/** Node objects without a node behind them. Each is ready, and says so every ten seconds, as a real one would. */
export class NodeObjects {
  readonly count: number;
  readonly #admin: AdminClient;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(admin: AdminClient, count: number) {
    this.#admin = admin;
    this.count = count;
  }

  async start(): Promise<void> {
    await withWorkers(16, this.count, async (index) => {
      const name = nameOf(index);
      const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % zones}` };
      await this.#admin.send('POST', '/api/v1/nodes', { body: { metadata: { name, labels } } });
      await this.#sayReady(index);
      // the apiserver gives each new node a taint, which a controller takes away from ready ones
      await this.#patch(`/api/v1/nodes/${name}`, { spec: { taints: null } });
    });
    this.#timer = setInterval(() => {
      // one that is lost does not matter: the next one comes
      this.#underWay = this.#sayReady(this.#next++ % this.count).catch(() => {});
    }, 10_000 / this.count);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#underWay;
  }

  #sayReady(index: number): Promise<void> {
    const lastHeartbeatTime = `${new Date().toISOString().slice(0, 19)}Z`;
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime };
    const status = { capacity: resources, allocatable: resources, conditions: [ready] };
    return this.#patch(`/api/v1/nodes/${nameOf(index)}/status`, { status });
  }

  async #patch(path: string, body: object): Promise<void> {
    const { status, body: answer } = await this.#admin.patch(path, body, 'merge');
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(answer)}`);
  }
}
