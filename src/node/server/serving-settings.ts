import type { SteadyClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { integerOption, numberOption, optionOfType, requireKnownOptions } from '../../base/options.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import type { CertificateSource } from '../certificates/certificate-source.ts';
import {
  type CertificateTools,
  certificateSourceOf,
  requireServingCertificate,
  type ServingCertificateOptions,
  servingCertificateNames,
} from '../certificates/serving-options.ts';
import type { NodeApiHost } from './api-host.ts';
import { requireTLSSettings, type ServingTrust, type TLSMinVersion } from './serving-files.ts';

/** Where the agent's own API is served, and to whom. Its certificate: see {@link ServingCertificateOptions}. */
export interface NodeServerOptions extends ServingCertificateOptions {
  /** The address that is listened on. Default: every address of the machine. */
  readonly address?: string;
  /** The port that is listened on; 0: a free one. Default 10 250. */
  readonly port?: number;
  /** The file of the authorities that sign clients' certificates, in PEM. Default: clients show tokens. */
  readonly clientCAFile?: string;
  /** True: a request without credentials comes from `system:anonymous`, which the cluster may allow something. Default false. */
  readonly anonymous?: boolean;
  /** The oldest version of TLS that is spoken. Default `VersionTLS12`. */
  readonly tlsMinVersion?: TLSMinVersion;
  /** Suites of TLS 1.2 that are taken, as Go names them. Default: those of Node.js. */
  readonly tlsCipherSuites?: readonly string[];
  /** False: logs, commands in containers and forwarded ports are answered with 405, whoever asks. Default true. */
  readonly enableDebuggingHandlers?: boolean;
  /** So many streams (logs included) are open at once; one more is answered with 429. Default 1,000. */
  readonly maxStreams?: number;
  /** A stream over which nothing moves for so long is ended, in milliseconds. Default 14 400 000 (4 hours). */
  readonly streamIdleTimeoutMs?: number;
  /** How long the apiserver's answer whose a token is counts, in milliseconds; 0: for one request. Default 120 000. */
  readonly authenticationCacheMs?: number;
  /** How long the apiserver's answer that a sender may do something counts, in milliseconds; 0: for one request. Default 300 000. */
  readonly authorizedCacheMs?: number;
  /** How long the apiserver's answer that a sender may not do something counts, in milliseconds; 0: for one request. Default 30 000. */
  readonly unauthorizedCacheMs?: number;
}

/** How an API is served, whoever gives the names of the options. */
export interface ServingSettings {
  readonly address: string | undefined;
  readonly port: number;
  readonly anonymous: boolean;
  readonly enableDebuggingHandlers: boolean;
  readonly maxStreams: number;
  readonly streamIdleTimeoutMs: number;
  readonly reloadPeriodMs: number;
  readonly authenticationCacheMs: number;
  readonly authorizedCacheMs: number;
  readonly unauthorizedCacheMs: number;
}

/** All that a server of a node's API needs. */
export interface NodeApiServerOptions extends ServingSettings, ServingTrust {
  readonly host: NodeApiHost;
  readonly nodeName: string;
  /** Reaches the apiserver for reviews. */
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const serverNames = [
  ...servingCertificateNames,
  ...[
    'address',
    'port',
    'clientCAFile',
    'anonymous',
    'tlsMinVersion',
    'tlsCipherSuites',
    'enableDebuggingHandlers',
    'maxStreams',
    'streamIdleTimeoutMs',
    'authenticationCacheMs',
    'authorizedCacheMs',
    'unauthorizedCacheMs',
  ],
];
/** The kubelet's. */
export const defaultPort = 10_250;
const longestMs = 86_400_000;

type GivenSettings = { readonly [name in keyof ServingSettings]?: ServingSettings[name] | undefined };

/** The settings with every default. Throws ERR_INVALID_OPTION, naming the option, the rule and the value; `prefix` stands before the name. */
export function resolveServing(given: GivenSettings, prefix = ''): ServingSettings {
  const { address, port = defaultPort, anonymous = false, enableDebuggingHandlers = true } = given;
  const { maxStreams = 1000, streamIdleTimeoutMs = 14_400_000, reloadPeriodMs = 30_000 } = given;
  const { authenticationCacheMs = 120_000, authorizedCacheMs = 300_000, unauthorizedCacheMs = 30_000 } = given;
  if (address !== undefined && typeof address !== 'string') throw invalidOption(`${prefix}address`, 'a string', address);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalidOption(`${prefix}port`, 'an integer from 0 to 65535', port);
  }
  return {
    address,
    port,
    anonymous: optionOfType(`${prefix}anonymous`, anonymous, 'boolean'),
    enableDebuggingHandlers: optionOfType(`${prefix}enableDebuggingHandlers`, enableDebuggingHandlers, 'boolean'),
    maxStreams: integerOption(`${prefix}maxStreams`, maxStreams, 1),
    streamIdleTimeoutMs: numberOption(`${prefix}streamIdleTimeoutMs`, streamIdleTimeoutMs, 1000, longestMs),
    reloadPeriodMs: numberOption(`${prefix}reloadPeriodMs`, reloadPeriodMs, 1000, longestMs),
    authenticationCacheMs: numberOption(`${prefix}authenticationCacheMs`, authenticationCacheMs, 0, longestMs),
    authorizedCacheMs: numberOption(`${prefix}authorizedCacheMs`, authorizedCacheMs, 0, longestMs),
    unauthorizedCacheMs: numberOption(`${prefix}unauthorizedCacheMs`, unauthorizedCacheMs, 0, longestMs),
  };
}

/** The option `server` of an agent, checked and complete, but for the source of its certificate. */
export interface ResolvedServer extends ServingSettings, Omit<ServingTrust, 'certificates'> {
  /** Makes the source, which asks nobody before it is read. */
  readonly certificatesWith: (tools: CertificateTools) => CertificateSource;
}

/** The option `server` of an agent, checked and complete. No file is read. Throws ERR_INVALID_OPTION. */
export function resolveServer(server: NodeServerOptions): ResolvedServer {
  requireKnownOptions('server', server, serverNames);
  requireServingCertificate(server);
  const { clientCAFile, tlsMinVersion, tlsCipherSuites } = server;
  if (clientCAFile !== undefined && (typeof clientCAFile !== 'string' || clientCAFile === '')) {
    throw invalidOption('server.clientCAFile', 'a file', clientCAFile);
  }
  requireTLSSettings(tlsMinVersion, tlsCipherSuites, 'server.tls');
  return {
    ...resolveServing(server, 'server.'),
    certificatesWith: (tools) => certificateSourceOf(server, tools),
    clientCAFile,
    tlsMinVersion,
    tlsCipherSuites,
  };
}
