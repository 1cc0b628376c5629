import type { WirePod } from '../../../src/index.ts';
import { buildPod, StoreError } from '../../../src/testing.ts';
import { drawShape, specOf } from '../chaos/life/pod-shape.ts';
import type { Prng } from '../chaos/prng.ts';
import { Controller, type RivalWrite } from '../chaos/rivals/controller.ts';
import { drawUserDeed } from '../chaos/rivals/user.ts';
import type { World } from './simulation-world.ts';

const patchType = 'application/strategic-merge-patch+json';

/** The other writers: users who create and delete pods, controllers with conditions, labels and finalizers of their own. */
export class Rivals {
  readonly #world: World;
  readonly #prng: Prng;
  readonly #names: readonly string[];
  readonly #controllers: readonly Controller[];

  constructor(world: World, pods: number) {
    this.#world = world;
    this.#prng = world.prng.fork('rivals');
    this.#names = Array.from({ length: pods }, (_, i) => `pod-${i}`);
    const controller = (name: string, types: readonly string[]): Controller =>
      new Controller(name, types, this.#prng.fork(name), world.ledger);
    this.#controllers = [
      controller('gates', ['rivals.example/gate-a', 'rivals.example/gate-b']),
      controller('evictions', ['DisruptionTarget']),
    ];
    for (const name of this.#names) if (this.#prng.chance(0.7)) this.#create(name);
  }

  /** A user's deed: a pod comes, goes, or is made again under its old name. */
  actAsUser(): void {
    const { store } = this.#world.server;
    const name = this.#prng.pick(this.#names) ?? '';
    if (this.#world.server.find('default', name) === undefined) {
      this.#create(name);
      return;
    }
    const deed = drawUserDeed(this.#prng);
    const what = `${deed}: ${name}`;
    switch (deed) {
      case 'ask it to end':
        this.#do(what, () => store.delete('default', name));
        return;
      case 'remove it by force':
        this.#do(what, () => store.delete('default', name, { gracePeriodSeconds: 0 }));
        return;
      case 'remove it and make another':
        this.#do(what, () => store.remove('default', name));
        this.#create(name);
        return;
      case 'remove its mirror':
        this.#do(deed, () => store.remove('default', `static-${this.#prng.int(0, 1)}`));
        return;
    }
  }

  /** A controller's write to some pod, mirror pods included. */
  actAsController(): void {
    const pod = this.#prng.pick(this.#world.server.store.list());
    const controller = this.#prng.pick(this.#controllers);
    if (pod !== undefined && controller !== undefined) this.#write(pod, controller.write(pod));
  }

  /** Writes a label of this pod. A status that waits for another copy of its pod may then be sent again. */
  touch(pod: WirePod): void {
    const [controller] = this.#controllers;
    if (controller !== undefined) this.#write(pod, controller.label(pod));
  }

  /** A controller sets a pod's Ready to False again and again, as the node lifecycle controller does for a silent node. */
  fight(forMs: number): void {
    const { server, clock } = this.#world;
    const name = this.#prng.pick(this.#names) ?? '';
    const untilMs = clock.elapsedMs + forMs;
    const strike = (): void => {
      const [pod, controller] = [server.find('default', name), this.#controllers[0]];
      if (clock.elapsedMs > untilMs || pod === undefined || controller === undefined) return;
      this.#write(pod, controller.takeReadyAway(pod));
      clock.schedule(strike, this.#prng.between(100, 1500));
    };
    strike();
  }

  #create(name: string): void {
    const { server, log } = this.#world;
    const metadata = { name, uid: `u${++log.counts.podsCreated}-of-${name}`, generation: 1 };
    const spec = specOf(drawShape(this.#prng));
    const status = { qosClass: 'BestEffort', conditions: [{ type: 'PodScheduled', status: 'True' }] };
    this.#do(`create ${name} (${metadata.uid}), restart policy ${spec.restartPolicy}`, () =>
      server.store.put(buildPod({ metadata, spec, status })),
    );
  }

  #write({ metadata = {} }: WirePod, { kind, subresource, body, takeBack }: RivalWrite): void {
    const { namespace = '', name = '' } = metadata;
    const patch = { type: patchType, body, subresource } as const;
    const isDone = this.#do(`${kind} on ${name}`, () => this.#world.server.store.patch(namespace, name, patch));
    if (!isDone) takeBack();
  }

  /** False when the server refuses. */
  #do(what: string, act: () => unknown): boolean {
    const { log } = this.#world;
    log.step(() => `rival: ${what}`);
    try {
      act();
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const { message } = error;
      log.step(() => `rival: refused, ${message.slice(0, 100)}`);
      return false;
    }
  }
}
