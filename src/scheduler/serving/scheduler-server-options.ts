import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { numberOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';

/** A certificate with its key, both PEM, and who signs the certificates of clients. */
export interface ServedIdentity {
  /** The certificate that clients see, first of its chain. */
  readonly cert: string;
  /** The key of the certificate, without a passphrase. */
  readonly key: string;
  /** The authorities that sign certificates of clients. Default: clients show tokens. */
  readonly clientCA?: string | undefined;
}

/** One thing that has to be well. */
export interface SchedulerHealthCheck {
  /** As the path has it: `/readyz/NAME`. */
  readonly name: string;
  /** Throws or rejects while something is wrong; the log has the reason, the client does not. */
  readonly check: () => void | Promise<void>;
}

/** What a {@link SchedulerServer} serves, where, and to whom. `transport` and `identity` are needed. */
export interface SchedulerServerOptions {
  /** Reaches the apiserver for TokenReviews and SubjectAccessReviews. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** Gives the certificate. It is asked again every `reloadPeriodMs`; while that fails the one of before is served. */
  readonly identity: () => ServedIdentity | Promise<ServedIdentity>;
  /** The address to listen on. Default: every address. */
  readonly address?: string;
  /** The port; 0: any that is free. Default 10259, kube-scheduler's. */
  readonly port?: number;
  /** What `/healthz` looks at, beside the server itself. */
  readonly healthChecks?: readonly SchedulerHealthCheck[];
  /** What `/readyz` looks at. */
  readonly readyChecks?: readonly SchedulerHealthCheck[];
  /** How long one check, or the text of a page, may take, in milliseconds; then it counts as failed. Default 10,000. */
  readonly checkTimeoutMs?: number;
  /** What `/metrics` shows, in the text format of Prometheus. Default: there is no such page. */
  readonly metrics?: () => string | Promise<string>;
  /** What `/configz` shows, as `{"componentconfig": …}`. It must hold no secret. Default: there is no such page. */
  readonly configz?: () => unknown;
  /** Paths that everyone may read whom the server knows, and who shows nothing; `*` at the end stands for any rest. Default: `/healthz`, `/readyz`, `/livez`. */
  readonly alwaysAllowPaths?: readonly string[];
  /** How long the apiserver's answer whose a token is counts, in milliseconds. Default 10,000. */
  readonly authenticationCacheMs?: number;
  /** How long the apiserver's answer that a sender may do something counts, in milliseconds. Default 10,000. */
  readonly authorizedCacheMs?: number;
  /** How long the apiserver's answer that a sender may not do something counts, in milliseconds. Default 10,000. */
  readonly unauthorizedCacheMs?: number;
  /** How often `identity` is asked, in milliseconds. Default 30,000. */
  readonly reloadPeriodMs?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export type ResolvedSchedulerServerOptions = Required<
  Omit<SchedulerServerOptions, 'address' | 'metrics' | 'configz' | 'clock' | 'logger'>
> &
  Pick<SchedulerServerOptions, 'address' | 'metrics' | 'configz'> & { readonly clock: SteadyClock; readonly logger: Logger };

const known = [
  ...['transport', 'identity', 'address', 'port', 'healthChecks', 'readyChecks', 'metrics', 'configz', 'alwaysAllowPaths'],
  ...['checkTimeoutMs', 'authenticationCacheMs', 'authorizedCacheMs', 'unauthorizedCacheMs', 'reloadPeriodMs', 'clock', 'logger'],
];
const longestMs = 86_400_000;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveSchedulerServerOptions(options: SchedulerServerOptions): ResolvedSchedulerServerOptions {
  requireKnownOptions('options', options, known);
  const { transport, identity, address, port = 10_259, metrics, configz, clock = systemClock } = options;
  const { healthChecks = [], readyChecks = [], alwaysAllowPaths = ['/healthz', '/readyz', '/livez'] } = options;
  const { authenticationCacheMs = 10_000, authorizedCacheMs = 10_000, unauthorizedCacheMs = 10_000 } = options;
  requireMethods('transport', transport, ['request', 'stream']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  if (address !== undefined && typeof address !== 'string') throw invalidOption('address', 'a string', address);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalidOption('port', 'an integer from 0 to 65535', port);
  if (metrics !== undefined) optionOfType('metrics', metrics, 'function');
  if (configz !== undefined) optionOfType('configz', configz, 'function');
  if (!Array.isArray(alwaysAllowPaths) || !alwaysAllowPaths.every((path) => typeof path === 'string')) {
    throw invalidOption('alwaysAllowPaths', 'a list of paths', alwaysAllowPaths);
  }
  return {
    transport,
    identity: optionOfType('identity', identity, 'function'),
    ...(address !== undefined && { address }),
    port,
    healthChecks: checksOption('healthChecks', healthChecks),
    readyChecks: checksOption('readyChecks', readyChecks),
    checkTimeoutMs: numberOption('checkTimeoutMs', options.checkTimeoutMs ?? 10_000, 1, longestMs),
    ...(metrics && { metrics }),
    ...(configz && { configz }),
    alwaysAllowPaths,
    authenticationCacheMs: numberOption('authenticationCacheMs', authenticationCacheMs, 0, longestMs),
    authorizedCacheMs: numberOption('authorizedCacheMs', authorizedCacheMs, 0, longestMs),
    unauthorizedCacheMs: numberOption('unauthorizedCacheMs', unauthorizedCacheMs, 0, longestMs),
    reloadPeriodMs: numberOption('reloadPeriodMs', options.reloadPeriodMs ?? 30_000, 1000, longestMs),
    clock: safeClock(clock),
    logger: loggerOption(options.logger),
  };
}

function checksOption(name: string, checks: readonly SchedulerHealthCheck[]): readonly SchedulerHealthCheck[] {
  if (!Array.isArray(checks)) throw invalidOption(name, 'a list of checks', checks);
  for (const [index, check] of checks.entries()) {
    requireMethods(`${name}[${index}]`, check, ['check']);
    if (typeof check.name !== 'string') throw invalidOption(`${name}[${index}].name`, 'a string', check.name);
  }
  return checks;
}
