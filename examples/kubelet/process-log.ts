import { type Logger, type LogLevel, logFields } from 'pod-status-manager';

/** How much is written, and how. */
export interface LogSettings {
  /** `json`: each line is an object. */
  readonly format: unknown;
  /** From 1 the log also has what an operator may want to know, from 4 what helps to find out why something happened. */
  readonly verbosity: unknown;
}

/** Where lines go, and where the time comes from. */
export interface LogOutput {
  readonly write: (line: string) => void;
  /** In milliseconds since the epoch. */
  readonly now: () => number;
}

const standardError: LogOutput = { write: (line) => void process.stderr.write(line), now: Date.now };
const windowMs = 60_000;
/** Of one message in a minute, but for what is only there at verbosity 4 or more. */
const mostLines = 20;

/** Undefined where the library's own lines are enough: warnings and errors as text. */
export function loggerOf({ format = 'text', verbosity = 0 }: LogSettings, output: LogOutput = standardError): Logger | undefined {
  const wanted = Number(verbosity);
  if (format === 'text' && wanted === 0) return undefined;
  const lines = new LineLimit();
  const isLevelEnabled = (level: LogLevel): boolean => wanted >= (level === 'debug' ? 4 : level === 'info' ? 1 : 0);
  const log = (level: LogLevel, fields: object, message: string): void => {
    if (!isLevelEnabled(level)) return;
    const now = output.now();
    const leftOut = level === 'debug' ? 0 : lines.take(message, now);
    if (leftOut === undefined) return;
    const all = { ...(leftOut > 0 && { linesLeftOut: leftOut }), ...logFields(fields) };
    if (format === 'json') output.write(`${JSON.stringify({ ts: now, level, msg: message, ...all })}\n`);
    else output.write(`${new Date(now).toISOString()} ${level}: ${message} ${JSON.stringify(all)}\n`);
  };
  return {
    debug: (fields, message) => log('debug', fields, message),
    info: (fields, message) => log('info', fields, message),
    warn: (fields, message) => log('warn', fields, message),
    error: (fields, message) => log('error', fields, message),
    isLevelEnabled,
  };
}

/** Messages are constants, so there are few of them. */
class LineLimit {
  readonly #windows = new Map<string, { since: number; lines: number; leftOut: number }>();

  /** How many lines of the message were left out before this one; undefined where this one is left out, too. */
  take(message: string, now: number): number | undefined {
    const last = this.#windows.get(message);
    if (last === undefined || Math.abs(now - last.since) >= windowMs) {
      this.#windows.set(message, { since: now, lines: 1, leftOut: 0 });
      return last?.leftOut ?? 0;
    }
    if (last.lines < mostLines) {
      last.lines += 1;
      return 0;
    }
    last.leftOut += 1;
    return undefined;
  }
}
