import type { Json } from '../../api/json/types.ts';
import { frozenCopy } from '../canonical/frozen-copy.ts';
import type { RequestEvent } from './status-manager-events.ts';

export type Verb = 'get' | 'patch' | 'delete';

/** What a request is for. */
export interface RequestSubject {
  readonly verb: Verb;
  readonly podUID: string;
  /** The body of a PATCH. Never changed. */
  readonly body?: Json;
}

export type RequestTimes = Pick<RequestEvent, 'startedAt' | 'durationMs'>;

/** How a request ended, and how long it took. */
export type RequestEnd = Pick<RequestEvent, 'result' | 'status' | 'message'> & RequestTimes;

export function requestEvent({ verb, podUID, body }: RequestSubject, end: RequestEnd): RequestEvent {
  let copy: unknown;
  let length: number | undefined;
  return Object.freeze({
    podUID,
    verb,
    ...end,
    get body() {
      if (body !== undefined) copy ??= frozenCopy(body);
      return copy;
    },
    get bytes() {
      if (body !== undefined) length ??= Buffer.byteLength(JSON.stringify(body));
      return length;
    },
  });
}
