import { systemClock } from '../clock.ts';
import { errorText } from '../errors.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { requireMethods } from '../options.ts';
import { fieldsAsText } from './log-fields.ts';

/** How much a line of a log matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A pino-shaped logger: fields first, then a constant message. An error is in the field `err`. */
export interface Logger {
  /** What helps to find out why something happened. */
  debug(fields: object, message: string): void;
  /** What an operator may want to know. */
  info(fields: object, message: string): void;
  /** Something failed and is tried again, or an injected part answered wrongly. */
  warn(fields: object, message: string): void;
  /** Something failed that nobody tries again. */
  error(fields: object, message: string): void;
  /** If there, as pino's: false for a level that is dropped. What only such a line would tell is then not computed. */
  isLevelEnabled?(level: LogLevel): boolean;
}

const nothing = (): void => {};

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, isLevelEnabled: () => false };

/**
 * The logger of a part: the one that is given; silence for null; without one, warnings and errors go to the console. Its failures
 * are ignored: there is no other place to log them. The logger of a part that is given to another part stays the same object.
 * Throws ERR_INVALID_OPTION for what is no logger.
 */
export function loggerOption(logger: Logger | null | undefined): Logger {
  if (logger === null || logger === silentLogger) return silentLogger;
  if (logger === undefined) return new SafeLogger(consoleLogger());
  if (logger instanceof SafeLogger) return logger;
  requireMethods('logger', logger, ['debug', 'info', 'warn', 'error']);
  return new SafeLogger(logger);
}

/** False where nobody would see a line of this level. A logger that does not say it may show every line. */
export function isLevelEnabled(logger: Logger, level: LogLevel): boolean {
  return callGuarded(() => logger.isLevelEnabled?.(level), ignoreFailure) !== false;
}

/** The same logger, with these fields on each line. */
export function withFields(logger: Logger, fields: object): Logger {
  if (logger === silentLogger) return logger;
  return {
    debug: (own, message) => logger.debug({ ...fields, ...own }, message),
    info: (own, message) => logger.info({ ...fields, ...own }, message),
    warn: (own, message) => logger.warn({ ...fields, ...own }, message),
    error: (own, message) => logger.error({ ...fields, ...own }, message),
    isLevelEnabled: (level) => isLevelEnabled(logger, level),
  };
}

/** The same logger with its failures ignored. */
class SafeLogger implements Logger {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  debug(fields: object, message: string): void {
    this.#log('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#log('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#log('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#log('error', fields, message);
  }

  isLevelEnabled(level: LogLevel): boolean {
    return isLevelEnabled(this.#logger, level);
  }

  #log(level: LogLevel, fields: object, message: string): void {
    callGuarded(() => this.#logger[level](withError(fields), message), ignoreFailure);
  }
}

/** What was thrown may be nothing at all: loggers and JSON leave out a member that is undefined, and the line would tell of no error. */
function withError(fields: { readonly err?: unknown }): object {
  return 'err' in fields && (fields.err === undefined || fields.err === null)
    ? { ...fields, err: errorText(fields.err) }
    : fields;
}

/** So many lines of one message go to the console in a minute; the last of them says so, and the next one how many were left out. */
const mostLines = 20;
const windowMs = 60_000;
const lastLine = ' (further lines of this message are left out for a minute)';

interface Window {
  readonly since: number;
  lines: number;
  leftOut: number;
}

/**
 * The logger of a part that was given none: warnings and errors go to the console, one line each: the level, the constant
 * message, and the fields as JSON. Of one message there are at most 20 lines a minute, so that an outage does not flood the console;
 * the 20th says that further ones are left out.
 */
function consoleLogger(): Logger {
  // messages are constants, so there are few of them
  const windows = new Map<string, Window>();
  const log = (level: 'warn' | 'error', fields: object, message: string): void => {
    const now = systemClock.elapsed();
    const last = windows.get(message);
    const isOver = last === undefined || now - last.since >= windowMs;
    const window: Window = isOver ? { since: now, lines: 0, leftOut: 0 } : last;
    if (isOver) windows.set(message, window);
    if (window.lines >= mostLines) {
      window.leftOut += 1;
      return;
    }
    window.lines += 1;
    const leftOut = isOver ? (last?.leftOut ?? 0) : 0;
    // in front: what comes last may find the line full
    const text = fieldsAsText(leftOut === 0 ? fields : { linesLeftOut: leftOut, ...fields });
    const ending = window.lines === mostLines ? lastLine : '';
    console[level](`pod-status-manager ${level}: ${message}${text === '{}' ? '' : ` ${text}`}${ending}`);
  };
  return {
    debug: nothing,
    info: nothing,
    warn: (fields, message) => log('warn', fields, message),
    error: (fields, message) => log('error', fields, message),
    isLevelEnabled: (level) => level === 'warn' || level === 'error',
  };
}
