import { systemClock } from '../clock.ts';
import { fieldsAsText } from './log-fields.ts';
import type { Logger } from './logger.ts';

/** So many lines of one message go to the console in a minute; the last of them says so, and the next one how many were left out. */
const mostLines = 20;
const windowMs = 60_000;
const lastLine = ' (further lines of this message are left out for a minute)';

interface Window {
  readonly since: number;
  lines: number;
  leftOut: number;
}

const nothing = (): void => {};

/**
 * The logger of a part that was given none: warnings and errors go to the console, one line each: the level, the constant
 * message, and the fields as JSON. Of one message there are at most 20 lines a minute, so that an outage does not flood the console;
 * the 20th says that further ones are left out.
 */
export function consoleLogger(): Logger {
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
