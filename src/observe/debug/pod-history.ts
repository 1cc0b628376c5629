import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import type { DebugPathChange, DebugTimelineEntry } from './debug-api.ts';

export interface HistoryLimits {
  /** Entries kept of one pod. */
  readonly entriesPerPod: number;
  /** Bytes of all entries together, as JSON and with what it takes to keep them. */
  readonly bytes: number;
}

/** What an entry, and a pod with entries, take beside their texts, in bytes. */
const overhead = { entry: 280, timeline: 400 } as const;
/** An entry whose text is longer loses what makes it long. */
const longestEntry = 32_768;
/** What the changes of an entry leave to its other members. */
const roomOfRest = 1_000;
/** Of such an entry: so many changes are kept, and so much of the name of each. */
const mostChanges = 100;
const longestName = 100;

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
    const timeline = this.#timelineOf(podUID);
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

  #timelineOf(podUID: string): Timeline {
    let timeline = this.#timelines.get(podUID);
    if (timeline === undefined) {
      timeline = { entries: [], dropped: 0 };
      this.#timelines.set(podUID, timeline);
      this.#bytes += sizeOfTimeline(podUID);
    }
    return timeline;
  }

  /** The entry is the oldest of its pod. */
  #drop(entry: Entry): void {
    const { podUID } = entry;
    this.#bytes -= sizeOf(entry);
    const timeline = this.#timelines.get(podUID);
    timeline?.entries.shift();
    if (timeline?.entries.length === 0) {
      this.#timelines.delete(podUID);
      this.#bytes -= sizeOfTimeline(podUID);
    } else if (timeline !== undefined) timeline.dropped += 1;
  }
}

// a text with characters beyond Latin-1 takes two bytes for each

function sizeOf({ text }: Entry): number {
  return text.length * 2 + overhead.entry;
}

function sizeOfTimeline(podUID: string): number {
  return podUID.length * 2 + overhead.timeline;
}

function textOf(entry: DebugTimelineEntry): string {
  if (entry.kind === 'set' && isLong(entry.changes)) return textOfLong(entry);
  const text = JSON.stringify(entry);
  if (text.length <= longestEntry) return text;
  const note = `not kept: ${text.length} characters`;
  if (entry.kind === 'request') return JSON.stringify({ ...entry, body: note });
  if (entry.kind === 'refused') return JSON.stringify({ ...entry, reason: note });
  return entry.kind === 'error' ? JSON.stringify({ ...entry, message: note }) : text;
}

/** True for changes that are too long for an entry. Of the rest of them nothing is made. */
function isLong(changes: readonly DebugPathChange[]): boolean {
  let room = longestEntry - roomOfRest;
  return changes.some((change) => {
    room -= JSON.stringify(change).length + 1;
    return room < 0;
  });
}

function textOfLong(entry: DebugTimelineEntry & { readonly kind: 'set' }): string {
  const note = `not kept: more than ${longestEntry} characters`;
  const changes = entry.changes.slice(0, mostChanges).map(({ path, element }) => {
    return { path: path.slice(0, longestName), element: element?.slice(0, longestName), before: note, after: note };
  });
  const text = JSON.stringify({ ...entry, changes });
  // characters that JSON writes as six may fill it even so
  return text.length <= longestEntry ? text : JSON.stringify({ ...entry, changes: [] });
}
