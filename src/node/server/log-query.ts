import { KubeletApiRefusal } from './exchange.ts';
import { type LogStream, type LogTime, parseLogTime } from './log-times.ts';

/** What a request for logs asks for. */
export interface LogQuery {
  /** The last so many lines alone; undefined: all. */
  readonly tailLines: number | undefined;
  /** So many bytes, and then no more; undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** One output alone; undefined: both. */
  readonly stream: LogStream | undefined;
  /** What was written then or later alone; undefined: all. */
  readonly since: LogTime | undefined;
  /** True: what the container writes from now on as well. */
  readonly follow: boolean;
  /** True: each line begins with its time. */
  readonly timestamps: boolean;
  /** True: the log of the container before the current one. */
  readonly previous: boolean;
}

const integer = /^[+-]?\d{1,18}$/;
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const streams: Readonly<Record<string, LogStream | undefined>> = { All: undefined, Stdout: 'stdout', Stderr: 'stderr' };

/** Reads the query as the kubelet reads `PodLogOptions`. Throws a refusal: 400 for what is no value, 422 for one that breaks a rule. */
export function readLogQuery(query: URLSearchParams, nowMs: number): LogQuery {
  const tail = query.get('tail') ?? '';
  // `tail` is an older name; `all` is no limit
  const tailLines = tail === '' ? integerIn(query, 'tailLines') : tail === 'all' ? undefined : integerIn(query, 'tail');
  const limitBytes = integerIn(query, 'limitBytes');
  const sinceSeconds = integerIn(query, 'sinceSeconds');
  const sinceTime = timeIn(query, 'sinceTime');
  const stream = query.get('stream') ?? 'All';
  const isAllowed =
    (tailLines === undefined || tailLines >= 0) &&
    (limitBytes === undefined || limitBytes >= 1) &&
    (sinceSeconds === undefined || (sinceSeconds >= 1 && sinceTime === undefined)) &&
    Object.hasOwn(streams, stream) &&
    (stream === 'All' || tailLines === undefined);
  if (!isAllowed) throw new KubeletApiRefusal(422, '{"message": "Invalid request."}');
  return {
    tailLines,
    limitBytes,
    stream: streams[stream],
    since: sinceSeconds === undefined ? sinceTime : { ms: nowMs - sinceSeconds * 1000, nanos: 0 },
    follow: isTrue(query.get('follow')),
    timestamps: isTrue(query.get('timestamps')),
    previous: isTrue(query.get('previous')),
  };
}

/** As the apiserver reads booleans of a query: what is there is true, unless it says otherwise. */
function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function integerIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!integer.test(text)) throw undecodable();
  return Number(text);
}

function timeIn(query: URLSearchParams, name: string): LogTime | undefined {
  const text = query.get(name);
  if (text === null || text === '' || text === 'null') return undefined;
  const time = rfc3339.test(text) ? parseLogTime(text.replace(/(\.\d{9})\d+/, '$1')) : undefined;
  if (time === undefined) throw undecodable();
  return time;
}

function undecodable(): KubeletApiRefusal {
  return new KubeletApiRefusal(400, '{"message": "Unable to decode query."}');
}
