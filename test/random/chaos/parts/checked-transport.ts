import { isJsonObject } from '../../../../src/api/json/json.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { PartsFound } from './rules.ts';

/** Looks at each request of the agent: a DELETE must name the uid of a pod that is not another's. */
export function checkedTransport(
  transport: ResourceTransport,
  { found, isForeign }: { readonly found: PartsFound; readonly isForeign: (uid: string) => boolean },
): ResourceTransport {
  return {
    request: (request) => {
      if (request.method === 'DELETE') {
        const preconditions = isJsonObject(request.body) ? request.body.preconditions : undefined;
        const uid = isJsonObject(preconditions) ? preconditions.uid : undefined;
        if (typeof uid !== 'string' || uid === '') found('every delete names its pod', request.path);
        else if (isForeign(uid)) found('no other pod is touched', `a DELETE of the foreign pod ${uid}`);
      }
      return transport.request(request);
    },
    stream: (request) => transport.stream(request),
  };
}
