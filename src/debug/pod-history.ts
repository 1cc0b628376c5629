import { FifoSet } from '../concurrency/fifo-set.ts';
import type { DebugTimelineEntry } from './debug-api.ts';

export interface HistoryLimits {
  /** Entries kept of one pod. */
  readonly entriesPerPod: number;
  /** Bytes of all entries together, as JSON and with what it takes to keep them. */
  readonly bytes: number;
}

/** What an entry costs beside its text. */
const overhead = 120;
/** An entry whose text is longer loses what makes it long. */
const longestEntry = 32_768;

interface Entry {
  readonly podUID: string;
  readonly text: string;
}

interface Timeline {
  readonly entries: Entry[];
  dropped: number;
}

/** A pod's timeline, oldest first. `dropped`: how many older entries are gone. */
export interface PodTimeline {
  readonly entries: readonly DebugTimelineEntry[];
  readonly dropped: number;
}

/**
 * The timelines of all pods, within their limits: the oldest entry of a pod, and of all pods, goes first. An entry is kept as
 * text, so that it keeps nothing else alive and its size is known.
 */
export class PodHistory {
  readonly #limits: HistoryLimits;
  readonly #timelines = new Map<string, Timeline>();
  readonly #entries = new FifoSet<Entry>();
  #bytes = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** What all entries take, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** False where nothing is kept: an entry need not be made then. */
  get keepsAny(): boolean {
    return this.#limits.entriesPerPod > 0 && this.#limits.bytes > 0;
  }

  add(podUID: string, entry: DebugTimelineEntry): void {
    const timeline = this.#timelines.get(podUID) ?? { entries: [], dropped: 0 };
    this.#timelines.set(podUID, timeline);
    const kept = { podUID, text: textOf(entry) };
    timeline.entries.push(kept);
    this.#entries.add(kept);
    this.#bytes += sizeOf(kept);
    const oldest = timeline.entries[0];
    if (timeline.entries.length > this.#limits.entriesPerPod && oldest !== undefined) {
      this.#entries.delete(oldest);
      this.#drop(oldest);
    }
    while (this.#bytes > this.#limits.bytes) {
      const first = this.#entries.take();
      if (first === undefined) break;
      this.#drop(first);
    }
  }

  of(podUID: string): PodTimeline | undefined {
    const timeline = this.#timelines.get(podUID);
    if (timeline === undefined) return undefined;
    return { entries: timeline.entries.map(({ text }) => JSON.parse(text)), dropped: timeline.dropped };
  }

  clear(): void {
    this.#timelines.clear();
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** The entry is the oldest of its pod. */
  #drop(entry: Entry): void {
    this.#bytes -= sizeOf(entry);
    const timeline = this.#timelines.get(entry.podUID);
    timeline?.entries.shift();
    if (timeline?.entries.length === 0) this.#timelines.delete(entry.podUID);
    else if (timeline !== undefined) timeline.dropped += 1;
  }
}

function sizeOf({ text }: Entry): number {
  // a text with characters beyond Latin-1 takes two bytes for each
  return text.length * 2 + overhead;
}

function textOf(entry: DebugTimelineEntry): string {
  const text = JSON.stringify(entry);
  if (text.length <= longestEntry) return text;
  const note = `not kept: ${text.length} characters`;
  if (entry.kind === 'request') return JSON.stringify({ ...entry, body: note });
  if (entry.kind === 'refused') return JSON.stringify({ ...entry, reason: note });
  if (entry.kind === 'error') return JSON.stringify({ ...entry, message: note });
  if (entry.kind !== 'set') return text;
  const changes = entry.changes.map(({ path, element }) => ({ path, element, before: note, after: note }));
  return JSON.stringify({ ...entry, changes: changes.slice(0, 100) });
}
