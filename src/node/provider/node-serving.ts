import { errorCodeOf, errorText, StatusManagerError } from '../../base/errors.ts';
import { ServingFileError } from '../certificates/named-file.ts';
import type { AdvertisedStatus } from '../node-object/advertised-status.ts';
import { defaultPort, type NodeServerOptions } from '../server/serving-settings.ts';

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

/** True for a port that another process listens on. */
export function isPortTaken(cause: unknown): boolean {
  return errorCodeOf(cause) === 'EADDRINUSE';
}

/** Why the node's API is not there, naming the option, and the file where it is one. */
export function notServed(
  cause: unknown,
  { port, certificate }: Pick<NodeServerOptions, 'port' | 'certificate'>,
): StatusManagerError {
  const isOfPort = cause instanceof Error && 'syscall' in cause && cause.syscall === 'listen';
  const ofCertificate = `its certificate cannot be used${certificate === undefined ? '' : ' (option `server.certificate`)'}: `;
  const ofPort = `the port ${port ?? defaultPort} cannot be listened on (option \`server.port\`): `;
  const isOfFile = cause instanceof ServingFileError;
  const what = isOfPort ? ofPort : isOfFile ? '' : ofCertificate;
  // of a file, the system's own error where there is one
  const said = isOfFile ? (cause.cause ?? cause) : cause;
  return new StatusManagerError('ERR_SERVER', `The API of the node is not served: ${what}${errorText(cause)}`, { cause: said });
}
