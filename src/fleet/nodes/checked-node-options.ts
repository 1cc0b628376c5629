import { errorText, StatusManagerError } from '../../base/errors.ts';
import { isLabelKey, isLabelValue } from '../../base/names.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { ProviderNode } from '../../node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../node/provider/provider-node-options.ts';
import type { SharedWatches } from '../../node/provider/shared-watches.ts';

const unreached = (): Promise<never> => Promise.reject(new Error('nothing is sent'));
const transport: ResourceTransport = { request: unreached, stream: unreached };
const sharedWatches = { podsOf: () => transport, nodeOf: () => transport, services: undefined } as unknown as SharedWatches;
const provider = { createPod: () => {}, deletePod: () => {}, getPodStatus: () => undefined };

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value, for what a node of the fleet would refuse. Starts nothing. */
export function requireUsableOptions(name: string, options: Partial<ProviderNodeOptions>): void {
  try {
    new ProviderNode({ ...options, nodeName: 'a', isSoleAgent: true, provider, transport, sharedWatches, logger: null });
  } catch (error) {
    throw new StatusManagerError('ERR_INVALID_OPTION', `${name}: ${errorText(error)}`);
  }
}

const requirement =
  /^\s*(?:(!?)\s*([^\s!=<>,()]+)|([^\s!=<>,()]+)\s*(?:(==?|!=)\s*([^\s!=<>,()]*)|([<>])\s*(-?\d+)|\s(in|notin)\s*\(([^()]*)\)))\s*$/;

/** True for a selector as `kubectl get -l` takes it. */
export function isLabelSelectorText(text: string): boolean {
  return text.split(/,(?![^(]*\))/).every((part) => {
    const [, , bare, key = bare, , value = '', , , , values = ''] = requirement.exec(part) ?? [];
    return isLabelKey(key) && isLabelValue(value) && values.split(',').every((one) => isLabelValue(one.trim()));
  });
}
