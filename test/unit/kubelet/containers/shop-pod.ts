import type { WirePod } from '../../../../src/api/json/types.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

/** The pod `web` of the namespace `shop`. */
export function shopPod(spec: BareParts['spec'] = {}, metadata: BareParts['metadata'] = {}): WirePod {
  const containers = [{ name: 'app', image: 'nginx:1' }];
  return barePod({ metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata }, spec: { containers, ...spec } });
}
