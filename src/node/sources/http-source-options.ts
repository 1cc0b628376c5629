import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { nodeNameOption } from '../../base/names.ts';
import { integerOption, longestTimerMs, numberOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { longestManifest } from './decode-manifest.ts';

/** Which URL is read, and how often. `url` and `nodeName` are needed. */
export interface HttpSourceOptions {
  /** http or https. A user and a password in it are sent as basic authorization. */
  readonly url: string;
  /** Sent with each request, such as an authorization. A redirect to another origin brings none of them but `accept`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The node that runs the pods. Its name, in lower case, is appended to theirs. */
  readonly nodeName: string;
  /** From one answer to the next request. Default 20 000. */
  readonly checkPeriodMs?: number;
  /** For a request, redirects and all. Default 10 000. */
  readonly timeoutMs?: number;
  /** A longer answer is refused. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export interface CheckedHttpSourceOptions extends Omit<Required<HttpSourceOptions>, 'url' | 'logger' | 'clock'> {
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly url: URL;
}

const knownOptions = ['url', 'headers', 'nodeName', 'checkPeriodMs', 'timeoutMs', 'maxBytes', 'clock', 'logger'];
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws ERR_INVALID_OPTION, naming the option and the rule; no header and no password of the URL is shown. */
export function checkedHttpSourceOptions(options: HttpSourceOptions): CheckedHttpSourceOptions {
  requireKnownOptions('options', options, knownOptions);
  const { headers = {}, checkPeriodMs = 20_000, timeoutMs = 10_000, maxBytes = longestManifest } = options;
  const { clock = systemClock, logger } = options;
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    url: urlOption(options.url),
    headers: headersOption(headers),
    nodeName: nodeNameOption(options.nodeName),
    checkPeriodMs: numberOption('checkPeriodMs', checkPeriodMs, 1, longestTimerMs),
    timeoutMs: numberOption('timeoutMs', timeoutMs, 1, longestTimerMs),
    maxBytes: integerOption('maxBytes', maxBytes, 1),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
}

function urlOption(value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalidOption('url', 'an http or https URL', url?.protocol.replace(':', '') ?? 'no URL');
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw invalidOption('url', 'a URL whose user and password are percent-encoded', undefined);
  }
  return url;
}

function headersOption(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== 'object' || headers === null) throw invalidOption('headers', 'an object', headers);
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) throw invalidOption('headers', 'an object whose keys are names of headers', name);
    if (typeof value !== 'string' || !headerValue.test(value)) {
      throw invalidOption(`headers.${name}`, 'the value of a header', typeof value === 'string' ? undefined : value);
    }
  }
  return { ...(headers as Record<string, string>) };
}
