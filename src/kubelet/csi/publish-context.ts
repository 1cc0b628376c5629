import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { whileGoing } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { SecretReader } from '../../node/object-managers/secret-manager.ts';
import type { TokenManager } from '../../node/pod-files/token-manager.ts';
import type { DriverVolumeRequest } from '../volumes/driver-volumes.ts';
import type { WireCsiDriver } from './csi-driver-objects.ts';
import { type PublishVolumeRequest, serviceAccountTokensKey } from './csi-node.ts';

/** A volume as the pod's spec has it. */
export type InlineSource = NonNullable<SpecVolume['csi']>;

/** Where secrets and tokens come from. */
export interface ContextSources {
  readonly secrets: SecretReader;
  readonly tokens: Pick<TokenManager, 'getToken'>;
}

type Context = Required<Pick<PublishVolumeRequest, 'volumeContext' | 'secrets'>>;
type Texts = Record<string, string>;

/** A secret by its name. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The volume itself, whatever pod has it. */
export interface VolumeFacts {
  readonly attributes: Readonly<Texts> | null | undefined;
  /** The credentials for publishing it. */
  readonly secrets: Texts;
  readonly isEphemeral: boolean;
}

/** The life of a token that a driver asks for without saying how long. */
const tokenSeconds = 3600;

/** What a driver is told of a volume that lives with its pod, as its CSIDriver asks for it, and the secrets of the volume. */
export async function inlineContext(
  sources: ContextSources,
  request: DriverVolumeRequest,
  { volumeAttributes: attributes, nodePublishSecretRef }: InlineSource,
  driver: WireCsiDriver,
): Promise<Context> {
  const { pod, signal } = request;
  const name = nodePublishSecretRef?.name;
  const place = name ? { namespace: pod.metadata?.namespace ?? '', name } : undefined;
  const secrets = await secretTexts(sources.secrets, place, 'fetching NodePublishSecretRef', signal);
  return publishContext(sources.tokens, request, { attributes, secrets, isEphemeral: true }, driver);
}

/** What a driver is told of a volume and its pod, as its CSIDriver asks for it. */
export async function publishContext(
  tokens: ContextSources['tokens'],
  { pod, signal }: Pick<DriverVolumeRequest, 'pod' | 'signal'>,
  volume: VolumeFacts,
  driver: WireCsiDriver,
): Promise<Context> {
  const { podInfoOnMount, serviceAccountTokenInSecrets } = driver.spec ?? {};
  const volumeContext = { ...volume.attributes };
  const secrets = { ...volume.secrets };
  if (podInfoOnMount === true) Object.assign(volumeContext, podInfo(pod, volume.isEphemeral));
  const given = await tokensOf(tokens, pod, signal, driver);
  if (given !== undefined) (serviceAccountTokenInSecrets === true ? secrets : volumeContext)[serviceAccountTokensKey] = given;
  return { volumeContext, secrets };
}

/** What a driver is told of the pod, and nothing that is secret. */
export function podInfo(pod: Pod, isEphemeral: boolean): Texts {
  return {
    'csi.storage.k8s.io/pod.name': pod.metadata?.name ?? '',
    'csi.storage.k8s.io/pod.namespace': pod.metadata?.namespace ?? '',
    'csi.storage.k8s.io/pod.uid': podUIDOf(pod),
    'csi.storage.k8s.io/serviceAccount.name': pod.spec?.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral),
  };
}

/** The texts of a secret; none without a place. The error begins with what it is for. */
export async function secretTexts(
  secrets: SecretReader,
  place: SecretPlace | undefined,
  purpose: string,
  signal: AbortSignal,
): Promise<Texts> {
  if (place === undefined) return {};
  const { namespace, name } = place;
  try {
    const { data } = await whileGoing(() => secrets.getSecret(namespace, name), signal);
    return Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString('utf8')]),
    );
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`${purpose} ${namespace}/${name} failed: ${errorText(cause)}`, { cause });
  }
}

/** The tokens of the pod for the audiences that the driver asks for, as JSON; undefined where it asks for none. */
async function tokensOf(
  tokens: ContextSources['tokens'],
  pod: Pod,
  signal: AbortSignal,
  driver: WireCsiDriver,
): Promise<string | undefined> {
  const requests = driver.spec?.tokenRequests ?? [];
  if (requests.length === 0) return undefined;
  const serviceAccountName = pod.spec?.serviceAccountName ?? '';
  const given: [audience: string, token: object][] = [];
  for (const { audience, expirationSeconds } of requests) {
    const request = { serviceAccountName, audience, expirationSeconds: expirationSeconds ?? tokenSeconds };
    const { token, expiresAt } = await whileGoing(() => tokens.getToken(pod, request, signal), signal);
    given.push([audience, { token, expirationTimestamp: new Date(expiresAt).toISOString().replace(/\.\d+Z$/, 'Z') }]);
  }
  return JSON.stringify(Object.fromEntries(given));
}
