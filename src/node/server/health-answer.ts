import type { Logger } from '../../base/logging/logger.ts';
import type { HealthCheck } from './api-host.ts';
import { type ApiExchange, answerText } from './exchange.ts';

/** What a client wants to know. */
export interface HealthQuestion {
  /** Undefined: all checks. */
  readonly name: string | undefined;
  readonly query: URLSearchParams;
}

/** Says whether the node is well, as Kubernetes' `healthz` does: the client learns which check fails, the log why. */
export async function answerHealth(
  exchange: ApiExchange,
  { name, query }: HealthQuestion,
  checks: readonly HealthCheck[],
  logger: Logger,
): Promise<void> {
  const all: readonly HealthCheck[] = [{ name: 'ping', check: () => {} }, ...checks];
  if (name !== undefined) {
    const check = all.find((one) => one.name === name);
    if (check === undefined) answerText(exchange, 404, '404: Page Not Found');
    else if (await isWell(check, logger)) answerText(exchange, 200, 'ok');
    else answerText(exchange, 500, 'internal server error: the check failed; the log says why\n');
    return;
  }
  const excluded = new Set(query.getAll('exclude'));
  const results = await Promise.all(
    all.map(async (check) => ({ name: check.name, isExcluded: excluded.has(check.name), isWell: await isWell(check, logger) })),
  );
  const lines = results.map(({ name: one, isExcluded, isWell: well }) => {
    if (isExcluded) return `[+]${one} excluded: ok\n`;
    return well ? `[+]${one} ok\n` : `[-]${one} failed: reason withheld\n`;
  });
  const fails = results.some(({ isExcluded, isWell: well }) => !isExcluded && !well);
  if (fails) answerText(exchange, 500, `${lines.join('')}healthz check failed\n`);
  else answerText(exchange, 200, query.has('verbose') ? `${lines.join('')}healthz check passed\n` : 'ok');
}

async function isWell({ name, check }: HealthCheck, logger: Logger): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (err) {
    logger.warn({ err, check: name }, 'a health check of the node fails');
    return false;
  }
}
