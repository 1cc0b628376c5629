import type { Logger, LogLevel } from '../../src/base/logging/logger.ts';

export interface RecordedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: object;
}

/** A logger that keeps what it is given. */
export function recordedLines() {
  const lines: RecordedLine[] = [];
  const at =
    (level: LogLevel) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  /** The messages of these levels. */
  const of = (...levels: LogLevel[]): string[] =>
    lines.filter(({ level }) => levels.includes(level)).map(({ message }) => message);
  /** The lines with this message. */
  const saying = (message: string): RecordedLine[] => lines.filter((line) => line.message === message);
  return { logger, lines, of, saying };
}
