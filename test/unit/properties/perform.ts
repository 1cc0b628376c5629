import type { Pod, PodStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { settle } from '../../../src/testing/fakes/fake-clock.ts';
import { changeServer } from './change-server.ts';
import type { Operation } from './operations.ts';
import { slotNames, type World } from './properties-world.ts';
import { garble, isDeepFrozen, reworded, statusOf } from './statuses.ts';

interface LastSet {
  readonly status: WirePodStatus;
  readonly version: number | undefined;
}

/** Does one operation after another, and checks the invariants after each. */
export class Performer {
  readonly #world: World;
  readonly #lastSets = new Map<string, LastSet>();
  readonly #versions = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  async perform(operation: Operation): Promise<void> {
    // an entry may have been dropped since the last operation
    this.#lookAtVersions('a pause');
    await this.#do(operation);
    this.#lookAtVersions(JSON.stringify(operation));
  }

  async #do(operation: Operation): Promise<void> {
    const { client, clock } = this.#world;
    switch (operation.op) {
      case 'hold':
        client.hold(operation.verb);
        break;
      case 'release':
        client.release(operation.verb);
        break;
      case 'trouble':
        client.trouble(operation);
        break;
      case 'late':
        client.runLateWrites();
        break;
      case 'settle':
        await settle();
        break;
      case 'advance':
        await clock.advance(operation.ms);
        break;
      default:
        this.#doToSlot(operation, slotNames[operation.slot] ?? slotNames[0]);
    }
  }

  #doToSlot(operation: Extract<Operation, { slot: number }>, name: string): void {
    const world = this.#world;
    const agents = world.known.get(name);
    if (agents === undefined) return;
    const uid = agents.metadata?.uid ?? '';
    switch (operation.op) {
      case 'set':
        world.marker += 1;
        this.#set(agents, withGate(statusOf(agents as WirePod, operation.shape, world.marker), operation.gate));
        break;
      case 'again':
        this.#setAgain(agents);
        break;
      case 'terminate':
        world.manager.terminatePod(agents);
        world.note(uid);
        break;
      case 'die':
        changeServer(world, name, { op: 'delete', slot: operation.slot });
        world.deliver(name);
        world.manager.terminatePod(agents);
        world.note(uid);
        break;
      case 'reconcile':
        world.manager.reconcile(uid);
        break;
      case 'orphan':
        world.manager.removeOrphanedStatuses(new Set([...this.#uids()].filter((other) => other !== uid)));
        break;
      case 'probe':
        world.manager[`setContainer${operation.kind}`](uid, 'containerd://a', operation.result);
        world.note(uid);
        break;
      case 'running':
      case 'reclaimed':
        world.answers(name)[operation.op] = operation.value;
        break;
      case 'deliver':
        world.deliver(name);
        break;
      default:
        changeServer(world, name, operation);
    }
  }

  /** Sets copies of the pod and the status, and overwrites the copies afterwards: that must have no effect. */
  #set(agents: Pod, status: WirePodStatus): void {
    const { manager, violations } = this.#world;
    const uid = agents.metadata?.uid ?? '';
    const before = manager.explain(uid).version ?? 0;
    const [pod, given] = [structuredClone(agents), structuredClone<PodStatus>(status)];
    const changed = manager.setPodStatus(pod, given);
    const { version } = manager.explain(uid);
    this.#world.note(uid);
    if (changed !== (version !== undefined && version > before))
      violations.push(`setPodStatus returned ${changed}: ${before} -> ${version}`);
    const out = manager.getPodStatus(uid);
    const said = JSON.stringify(out);
    garble(given);
    garble(pod);
    garble(out);
    if (JSON.stringify(manager.getPodStatus(uid)) !== said)
      violations.push('the cache shares an object with its caller or its reader');
    if (out !== undefined && !isDeepFrozen(out)) violations.push('getPodStatus returned an object that is not frozen');
    this.#lastSets.set(uid, { status, version });
  }

  #setAgain(agents: Pod): void {
    const { manager, violations } = this.#world;
    const uid = agents.metadata?.uid ?? '';
    const last = this.#lastSets.get(uid);
    const { version } = manager.explain(uid);
    if (last === undefined || version === undefined || version !== last.version || agents.metadata?.deletionTimestamp) return;
    const before = manager.getPodStatus(uid);
    if (manager.setPodStatus(agents, reworded(last.status))) violations.push(`an equal status made version ${version + 1}`);
    if (manager.getPodStatus(uid) !== before) violations.push('an equal status changed the result of getPodStatus');
  }

  #lookAtVersions(after: string): void {
    for (const uid of this.#uids()) {
      const { version } = this.#world.manager.explain(uid);
      const last = this.#versions.get(uid);
      if (version === undefined) this.#forget(uid);
      else this.#versions.set(uid, version);
      if (last !== undefined && version !== undefined && version < last) {
        this.#world.violations.push(`version ${last} became ${version} after ${after}`);
      }
    }
  }

  /** The entry was dropped: the next status begins a new entry, with new versions. */
  #forget(uid: string): void {
    this.#versions.delete(uid);
    this.#lastSets.delete(uid);
    this.#world.forget(uid);
  }

  #uids(): Set<string> {
    const now = [...this.#world.known.values()].map((pod) => pod.metadata?.uid ?? '');
    return new Set([...this.#versions.keys(), ...now]);
  }
}

/** The status with the agent's stale copy of a foreign condition. */
function withGate(status: WirePodStatus, gate: string | undefined): WirePodStatus {
  if (gate === undefined) return status;
  return { ...status, conditions: [...(status.conditions ?? []), { type: 'example.com/gate', status: gate }] };
}
