import { callGuarded, ignoreFailure } from './guard.ts';

/** A pino-shaped logger: fields first, then a constant message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
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
