import { type QueueEntry, schedulerNameOf } from './queued-pod-info.ts';

/** How many pods of a profile one plugin keeps waiting. */
export interface PluginCount {
  readonly plugin: string;
  readonly profile: string;
  readonly pods: number;
}

/** Pods that wait for an event which may help them, by the plugins that rejected them. */
export class UnschedulablePods {
  readonly #entries = new Map<string, QueueEntry>();
  readonly #byPlugin = new Map<string, Set<QueueEntry>>();
  /** Under which plugins a pod is found, though its own sets have changed since. */
  readonly #plugins = new Map<string, ReadonlySet<string>>();

  get size(): number {
    return this.#entries.size;
  }

  get(uid: string): QueueEntry | undefined {
    return this.#entries.get(uid);
  }

  values(): Iterable<QueueEntry> {
    return this.#entries.values();
  }

  /** The pods that one of these plugins rejected, gates or keeps pending. */
  rejectedBy(plugins: Iterable<string>): Set<QueueEntry> {
    const found = new Set<QueueEntry>();
    for (const plugin of plugins) for (const entry of this.#byPlugin.get(plugin) ?? []) found.add(entry);
    return found;
  }

  /** How many pods of each profile each plugin rejected, gates or keeps pending. */
  countsByPlugin(): PluginCount[] {
    return [...this.#byPlugin].flatMap(([plugin, entries]) => {
      const pods = new Map<string, number>();
      for (const entry of entries) pods.set(schedulerNameOf(entry), (pods.get(schedulerNameOf(entry)) ?? 0) + 1);
      return Array.from(pods, ([profile, count]) => ({ plugin, profile, pods: count }));
    });
  }

  /** Adds the pod, or brings up to date what rejected it. */
  set(entry: QueueEntry): void {
    const { uid } = entry.podInfo;
    this.delete(uid);
    const plugins = new Set([...entry.unschedulablePlugins, ...entry.pendingPlugins]);
    this.#entries.set(uid, entry);
    this.#plugins.set(uid, plugins);
    for (const plugin of plugins) {
      const entries = this.#byPlugin.get(plugin);
      if (entries === undefined) this.#byPlugin.set(plugin, new Set([entry]));
      else entries.add(entry);
    }
  }

  delete(uid: string): QueueEntry | undefined {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return undefined;
    for (const plugin of this.#plugins.get(uid) ?? []) this.#byPlugin.get(plugin)?.delete(entry);
    this.#plugins.delete(uid);
    this.#entries.delete(uid);
    return entry;
  }
}
