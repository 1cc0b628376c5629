import type { WirePod } from 'pod-status-manager';
import { Reflector, resources } from 'pod-status-manager/reflector';
import { describeError } from '../journal.ts';
import { pause } from '../pause.ts';
import { runLabel } from '../pod-owners.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import type { FleetCloud } from './fleet-cloud.ts';
import { statusOfCloudPod, versionOfStatus } from './messages.ts';

/** What was seen of a pod's status last. */
interface Seen {
  readonly version: number;
  readonly restarts: number;
}

/** The pods of a fleet's run: made and deleted as their owners do, and watched: no status may go back in time. */
export class FleetPods {
  readonly #world: World;
  readonly #nodes: readonly string[];
  readonly #reflector: Reflector<WirePod>;
  readonly #seen = new Map<string, Seen>();
  readonly #owned = new Map<string, string>();
  /** Statuses that were older than the one before, one sentence each. */
  readonly backInTime: string[] = [];
  statuses = 0;
  #made = 0;

  constructor(world: World, nodes: readonly string[]) {
    this.#world = world;
    this.#nodes = nodes;
    const see = (pod: WirePod): void => this.#see(pod);
    this.#reflector = new Reflector<WirePod>({
      transport: world.transport,
      resource: resources.pods,
      namespace: world.namespace,
      labelSelector: world.labelSelector,
      handlers: { added: see, updated: see },
    });
  }

  /** Creates so many pods, spread over the nodes. */
  async begin(count: number): Promise<void> {
    await this.#reflector.start();
    for (let made = 0; made < count; made += 50) {
      await Promise.all(Array.from({ length: Math.min(50, count - made) }, () => this.#create()));
    }
  }

  /** Pods come and go until the signal aborts. */
  async live(random: Random, over: AbortSignal): Promise<void> {
    while (await pause(random.between(100, 500), over)) {
      const [name, uid] = random.pick([...this.#owned]) ?? [];
      try {
        if (name !== undefined && uid !== undefined) {
          this.#owned.delete(name);
          await this.#world.admin.deletePod(this.#world.namespace, name, uid);
        }
        await this.#create();
      } catch {
        // the next one has its turn; the comparison at the end is with what there is
      }
    }
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
  }

  /** What the server says that the cloud does not, one sentence for each pod. */
  async lost(cloud: FleetCloud): Promise<{ readonly compared: number; readonly lost: readonly string[] }> {
    try {
      const pods = await this.#world.admin.listPods(this.#world.namespace, this.#world.labelSelector);
      const known = new Set(pods.map(({ metadata }) => metadata?.uid));
      const left = cloud.pods
        .filter(({ uid }) => !known.has(uid))
        .map(({ name }) => `${name}: the cloud runs it, the server has none`);
      return { compared: pods.length, lost: [...pods.flatMap((pod) => differenceOf(pod, cloud)), ...left] };
    } catch (error) {
      return { compared: 0, lost: [`the pods could not be read: ${describeError(error)}`] };
    }
  }

  async #create(): Promise<void> {
    this.#made += 1;
    const { admin, namespace, runID } = this.#world;
    const nodeName = this.#nodes[this.#made % this.#nodes.length] ?? '';
    const metadata = { name: `pod-${this.#made}`, labels: { [runLabel]: runID } };
    const tolerations = [{ operator: 'Exists' }];
    const pod = await admin.createPod(namespace, {
      metadata,
      spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }], terminationGracePeriodSeconds: 1, tolerations },
    });
    this.#owned.set(metadata.name, pod.metadata?.uid ?? '');
  }

  #see({ metadata, status }: WirePod): void {
    const { uid = '', name = '' } = metadata ?? {};
    const now: Seen = { version: versionOfStatus(status), restarts: status?.containerStatuses?.[0]?.restartCount ?? 0 };
    const before = this.#seen.get(uid);
    if (before !== undefined && (now.version < before.version || now.restarts < before.restarts)) {
      this.backInTime.push(
        `${name}: version ${before.version} with ${before.restarts} restarts, then ${now.version} with ${now.restarts}`,
      );
    }
    if (now.version > 0 && now.version !== before?.version) this.statuses += 1;
    this.#seen.set(uid, now);
  }
}

function differenceOf({ metadata, status }: WirePod, cloud: FleetCloud): string[] {
  const { uid = '', name = '', deletionTimestamp } = metadata ?? {};
  const pod = cloud.get(uid);
  if (deletionTimestamp !== undefined) return [`${name}: it is still being deleted`];
  if (pod === undefined) return [`${name}: the cloud does not run it`];
  const wanted = statusOfCloudPod(pod);
  const [has, should] = [status?.containerStatuses?.[0], wanted.containerStatuses?.[0]];
  const isSame = status?.message === wanted.message && has?.ready === should?.ready && has?.restartCount === should?.restartCount;
  return isSame ? [] : [`${name}: the cloud has ${wanted.message}, the server ${status?.message ?? 'no status'}`];
}
