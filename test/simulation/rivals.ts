import type { WirePod } from '../../src/index.ts';
import { buildPod, StoreError } from '../../src/testing.ts';
import type { Prng } from './prng.ts';
import type { World } from './world.ts';

const gates = ['example.com/gate-a', 'example.com/gate-b', 'DisruptionTarget'] as const;

/** Everybody else who writes: users who make and delete pods, controllers with conditions, labels and finalizers of their own. */
export class Rivals {
  readonly #world: World;
  readonly #prng: Prng;
  readonly #names: readonly string[];

  constructor(world: World, pods: number) {
    this.#world = world;
    this.#prng = world.prng.fork('rivals');
    this.#names = Array.from({ length: pods }, (_, i) => `pod-${i}`);
    for (const name of this.#names) if (this.#prng.chance(0.7)) this.#create(name);
  }

  /** A user's deed: a pod comes, goes, or is made again under its old name. */
  actAsUser(): void {
    const name = this.#prng.pick(this.#names) ?? '';
    const pod = this.#world.server.find('default', name);
    if (pod === undefined) {
      this.#create(name);
      return;
    }
    switch (this.#prng.weighted({ delete: 50, force: 10, recreate: 10, deleteMirror: 10 })) {
      case 'delete':
        this.#do(`delete ${name}`, () => this.#world.server.store.delete('default', name));
        return;
      case 'force':
        this.#do(`delete ${name} by force`, () => this.#world.server.store.delete('default', name, { gracePeriodSeconds: 0 }));
        return;
      case 'recreate':
        this.#do(`remove ${name}, to make it again`, () => this.#world.server.store.remove('default', name));
        this.#create(name);
        return;
      case 'deleteMirror':
        this.#do('delete a mirror pod', () => this.#world.server.store.remove('default', `static-${this.#prng.int(0, 1)}`));
        return;
    }
  }

  /** A controller's write to some pod, mirror pods included. */
  actAsController(): void {
    const pod = this.#prng.pick(this.#world.server.store.list());
    if (pod === undefined) return;
    switch (this.#prng.weighted({ gate: 45, drop: 10, notReady: 15, label: 20, finalizer: 10 })) {
      case 'gate': {
        const type = this.#prng.pick(gates) ?? gates[0];
        const condition = { type, status: this.#prng.chance(0.5) ? 'True' : 'False', message: `rival ${this.#prng.int(1, 999)}` };
        this.#patchStatus(pod, condition);
        return;
      }
      case 'drop':
        this.#patchStatus(pod, { type: gates[this.#prng.int(0, 1)] ?? '', $patch: 'delete' });
        return;
      case 'notReady':
        this.#patchStatus(pod, { type: 'Ready', status: 'False', reason: 'NodeNotReady', message: 'the node is gone' });
        return;
      case 'label':
        this.#patchMetadata(pod, { labels: { color: `c${this.#prng.int(1, 9)}` } });
        return;
      case 'finalizer':
        this.#patchMetadata(pod, this.#finalizers(pod));
        return;
    }
  }

  #finalizers({ metadata = {} }: WirePod): object {
    const held = (metadata.finalizers ?? []).length > 0;
    if (held) return { '$deleteFromPrimitiveList/finalizers': ['example.com/hold'] };
    return metadata.deletionTimestamp === undefined ? { finalizers: ['example.com/hold'] } : {};
  }

  #create(name: string): void {
    const { server, log } = this.#world;
    const number = ++log.counts.podsCreated;
    const restartPolicy = this.#prng.pick(['Always', 'Always', 'Never', 'OnFailure']) ?? 'Always';
    const metadata = { name, uid: `u${number}-of-${name}`, generation: 1 };
    const scheduled = { type: 'PodScheduled', status: 'True' };
    this.#do(`create ${name} (${metadata.uid}), restart policy ${restartPolicy}`, () =>
      server.store.put(
        buildPod({ metadata, spec: { restartPolicy }, status: { qosClass: 'BestEffort', conditions: [scheduled] } }),
      ),
    );
  }

  #patchStatus({ metadata = {} }: WirePod, condition: { type: string; status?: string; [member: string]: unknown }): void {
    const { namespace = '', name = '' } = metadata;
    const type = 'application/strategic-merge-patch+json';
    const body = { status: { conditions: [condition] } };
    this.#do(`condition ${condition.type} = ${condition.status ?? 'gone'} on ${name}`, () =>
      this.#world.server.store.patch(namespace, name, { type, body, subresource: 'status' }),
    );
  }

  #patchMetadata({ metadata = {} }: WirePod, change: object): void {
    const { namespace = '', name = '' } = metadata;
    const type = 'application/strategic-merge-patch+json';
    this.#do(`metadata of ${name}: ${JSON.stringify(change)}`, () =>
      this.#world.server.store.patch(namespace, name, { type, body: { metadata: change } }),
    );
  }

  #do(what: string, act: () => unknown): void {
    this.#world.log.step(() => `rival: ${what}`);
    try {
      act();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const { message } = error;
      this.#world.log.step(() => `rival: refused, ${message.slice(0, 100)}`);
    }
  }
}
