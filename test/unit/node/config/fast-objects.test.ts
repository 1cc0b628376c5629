import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ReceivedObjects } from '../../../../src/client/reflector/received-objects.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { changeOf, newPod } from '../../../../src/node/config/pod-changes.ts';

setFlagsFromString('--allow-natives-syntax');
const isFast = runInThisContext('(object) => %HasFastProperties(object)') as (object: object) => boolean;

const metadata = { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1, labels: { a: 'b' } };

/** As JSON.parse makes it. */
function parsed(status: object, more: object = {}): WirePod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, ...more },
    spec: { nodeName: 'n', containers: [] },
    status,
  };
  return JSON.parse(JSON.stringify(pod)) as WirePod;
}

/** V8 keeps the members of an object that has lost one in a table of its own: 800 bytes for the metadata of a pod. */
describe('the metadata of a pod that is kept', () => {
  it('takes no table of its own without its managed fields', () => {
    const objects = new ReceivedObjects<WirePod>({
      resource: resources.pods,
      path: '',
      shareEqualParts: false,
      logger: silentLogger,
    });
    const received = objects.receive(parsed({}, { managedFields: [{ manager: 'someone' }] }), undefined);
    if (typeof received === 'string') throw new Error(received);
    const { metadata: kept = {} } = received.object;
    expect([Object.keys(kept), isFast(kept)]).toEqual([Object.keys(metadata), true]);
  });

  it.each(['firstSeen', 'latest'] as const)('takes none after a change (%s)', (metadataOf) => {
    const kept = newPod(parsed({}), 'api', 'now');
    const { op, pod } = changeOf(kept, parsed({ phase: 'Running' }), metadataOf);
    expect([op, isFast(pod.metadata ?? {}), isFast(pod)]).toEqual(['RECONCILE', true, true]);
  });
});
