import { callGuarded, ignoreFailure } from './guard.ts';

/** A pino-shaped logger: fields first, then a constant message. */
export interface Logger {
  /** What helps to find out why something happened. */
  debug(fields: object, message: string): void;
  /** What an operator may want to know. */
  info(fields: object, message: string): void;
  /** Something failed and is tried again, or an injected part answered wrongly. */
  warn(fields: object, message: string): void;
  /** Something failed that nobody tries again. */
  error(fields: object, message: string): void;
}

const nothing = (): void => {};

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The same logger with its failures ignored: there is no other place to log them. */
export function safeLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (fields: object, message: string): void =>
      callGuarded(() => logger[level](fields, message), ignoreFailure);
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}
