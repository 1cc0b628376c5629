import { badRequest, type StoreError } from '../objects/api-status.ts';
import type { Selection } from '../objects/selectors.ts';
import type { Route } from './route.ts';

// What several requests have in their query.

export function selectionOf({ namespace, query }: Route): Selection {
  return {
    namespace,
    fieldSelector: query.get('fieldSelector') ?? undefined,
    labelSelector: query.get('labelSelector') ?? undefined,
  };
}

/** The resourceVersion of a query as a number; 0 for none. Throws the error of `refusal` when it is no number. */
export function requestedVersion(query: URLSearchParams, refusal: (message: string) => StoreError): number {
  const text = query.get('resourceVersion') ?? '';
  if (/^\d*$/.test(text)) return Number(text);
  const shown = JSON.stringify(text);
  throw refusal(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`);
}

/** A whole number of a query; undefined where there is none. Throws 400 for other text. */
export function integerIn(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null) return undefined;
  if (/^[-+]?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}
