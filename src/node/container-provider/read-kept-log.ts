import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatNanoTime } from '../../api/json/time.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import type { ContainerLogRequest } from '../provider/pod-provider.ts';
import type { KeptLine, KeptLog, LogPlace, OutputName } from './kept-log.ts';

/** What is read of a log at once, in bytes, about. */
const batchBytes = 16 * 1024;
/** What a line counts that is not shown. */
const lookedAtBytes = 1;
const lineFeed = Buffer.from('\n');

/**
 * What a run of a container has written, a piece at a time; the next piece is made when it is asked for. A reader holds nothing of the
 * log: one that is slower than the container goes on with the oldest line that is still there. Without `follow` it ends where the log
 * ended at the call; with it, once the run has ended and all of it was read, or the signal aborts.
 */
export function readKeptLog(log: KeptLog, request: ContainerLogRequest, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const { tailLines, stream, follow } = request;
  const place = tailLines === undefined ? { block: 0, offset: 0 } : log.tailPlace(tailLines, stream);
  const end = follow ? undefined : log.endPlace();
  // from now on, so that the log of a pod that ends at once is read as well
  const leave = log.enter();
  const forget = onAbort(signal, leave);
  return readPieces({ log, request, place, end, signal }, () => {
    forget();
    leave();
  });
}

interface Reading {
  readonly log: KeptLog;
  readonly request: ContainerLogRequest;
  readonly place: LogPlace;
  /** Undefined: there may be more. */
  readonly end: LogPlace | undefined;
  readonly signal: AbortSignal;
}

async function* readPieces({ log, request, place, end, signal }: Reading, leave: () => void): AsyncGenerator<Buffer, void> {
  const printer = new LinePrinter(request);
  try {
    while (!signal.aborted) {
      const { hasEnded } = log;
      const piece = nextPiece(log, place, end, printer);
      if (piece.bytes.length > 0) yield piece.bytes;
      else if (piece.isLast && (end !== undefined || hasEnded)) return;
      else if (piece.isLast) await log.changed(signal);
      // a long log of which nothing is shown must leave room for others
      else await nextTurn();
    }
  } finally {
    leave();
  }
}

interface Piece {
  readonly bytes: Buffer;
  /** True: there was nothing more. */
  readonly isLast: boolean;
}

/** What it looks at is bounded, also where nothing of it is shown. */
function nextPiece(log: KeptLog, place: LogPlace, end: LogPlace | undefined, printer: LinePrinter): Piece {
  const shown: Buffer[] = [];
  for (let bytes = 0; bytes < batchBytes; ) {
    const line = isAt(place, end) ? undefined : log.next(place);
    if (line === undefined || (end !== undefined && place.block > end.block))
      return { bytes: Buffer.concat(shown), isLast: true };
    bytes += lookedAtBytes;
    for (const part of printer.print(line)) {
      shown.push(part);
      bytes += part.length;
    }
  }
  return { bytes: Buffer.concat(shown), isLast: false };
}

function isAt(place: LogPlace, end: LogPlace | undefined): boolean {
  if (end === undefined) return false;
  return place.block > end.block || (place.block === end.block && place.offset >= end.offset);
}

/** Makes what is shown of lines. Each line stands for itself, also where its beginning or its end is gone. */
class LinePrinter {
  readonly #stream: OutputName | undefined;
  readonly #sinceMs: number;
  readonly #timestamps: boolean;
  /** Of which output a line was shown whose end was not. */
  #unended: OutputName | undefined;

  constructor({ stream, sinceTime, timestamps }: ContainerLogRequest) {
    this.#stream = stream;
    this.#sinceMs = sinceTime?.getTime() ?? Number.NEGATIVE_INFINITY;
    this.#timestamps = timestamps;
  }

  print({ output, time, continues, ends, bytes }: KeptLine): readonly Buffer[] {
    if ((this.#stream ?? output) !== output || time < this.#sinceMs) return [];
    const shown: Buffer[] = [];
    const goesOn = continues && this.#unended === output;
    if (!goesOn) {
      if (this.#unended !== undefined) shown.push(lineFeed);
      if (this.#timestamps) shown.push(Buffer.from(`${logTime(time)} `, 'latin1'));
    }
    shown.push(bytes);
    if (ends) shown.push(lineFeed);
    this.#unended = ends ? undefined : output;
    return shown;
  }
}

const longestTimeMs = 8.64e15;

/** As a kubelet shows times of lines. A clock may say anything. */
function logTime(ms: number): string {
  return formatNanoTime(Math.max(-longestTimeMs, Math.min(ms, longestTimeMs)));
}
