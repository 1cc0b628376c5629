import { errorText, StatusManagerError } from '../../base/errors.ts';
import type { AdvertisedStatus } from '../node-object/advertised-status.ts';

/** The apiserver speaks WebSockets with a node that declares it, and SPDY with others. */
const streamFeature = 'ExtendWebSocketsToKubelet';

/** What a node with an API of its own says of itself. Endpoints that are given count. */
export function servedStatus(
  { daemonEndpoints, declaredFeatures = [] }: Pick<AdvertisedStatus, 'daemonEndpoints' | 'declaredFeatures'>,
  port: number,
): Pick<AdvertisedStatus, 'daemonEndpoints' | 'declaredFeatures'> {
  return {
    daemonEndpoints: daemonEndpoints ?? { kubeletEndpoint: { Port: port } },
    // the apiserver takes a sorted list without repetitions alone
    declaredFeatures: [...new Set([...declaredFeatures, streamFeature])].sort(),
  };
}

/** Why the node's API is not there, naming the option. */
export function notServed(cause: unknown, port: number | undefined): StatusManagerError {
  const isOfPort = cause instanceof Error && 'syscall' in cause && cause.syscall === 'listen';
  const what = isOfPort
    ? `the port ${port} cannot be listened on (option \`server.port\`)`
    : 'its certificate cannot be used (options `server.tlsCertFile`, `server.tlsPrivateKeyFile`, `server.clientCAFile`)';
  return new StatusManagerError('ERR_SERVER', `The API of the node is not served: ${what}: ${errorText(cause)}`, { cause });
}
