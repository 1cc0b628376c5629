import type { V1CSIDriver } from '@kubernetes/client-node';
import type { Wire } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { whileGoing } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { SecretReader } from '../../node/object-managers/secret-manager.ts';
import type { TokenManager } from '../../node/pod-files/token-manager.ts';
import type { DriverVolumeRequest } from '../volumes/driver-volumes.ts';
import { type PublishVolumeRequest, serviceAccountTokensKey } from './csi-node.ts';

export type WireCsiDriver = Wire<V1CSIDriver>;

/** A volume as the pod's spec has it. */
export type InlineSource = NonNullable<SpecVolume['csi']>;

/** Where secrets and tokens come from. */
export interface ContextSources {
  readonly secrets: SecretReader;
  readonly tokens: Pick<TokenManager, 'getToken'>;
}

type Context = Required<Pick<PublishVolumeRequest, 'volumeContext' | 'secrets'>>;

/** The life of a token that a driver asks for without saying how long. */
const tokenSeconds = 3600;

/** What a driver is told of the volume and its pod, as its CSIDriver asks for it, and the secrets of the volume. */
export async function inlineContext(
  sources: ContextSources,
  request: DriverVolumeRequest,
  source: InlineSource,
  driver: WireCsiDriver,
): Promise<Context> {
  const { pod } = request;
  const { podInfoOnMount, serviceAccountTokenInSecrets } = driver.spec ?? {};
  const volumeContext = { ...source.volumeAttributes };
  const secrets = await secretsOf(sources, request, source);
  if (podInfoOnMount === true) {
    Object.assign(volumeContext, {
      'csi.storage.k8s.io/pod.name': pod.metadata?.name ?? '',
      'csi.storage.k8s.io/pod.namespace': pod.metadata?.namespace ?? '',
      'csi.storage.k8s.io/pod.uid': podUIDOf(pod),
      'csi.storage.k8s.io/serviceAccount.name': pod.spec?.serviceAccountName ?? '',
      'csi.storage.k8s.io/ephemeral': 'true',
    });
  }
  const tokens = await tokensOf(sources, request, driver);
  if (tokens !== undefined) (serviceAccountTokenInSecrets === true ? secrets : volumeContext)[serviceAccountTokensKey] = tokens;
  return { volumeContext, secrets };
}

async function secretsOf(
  { secrets }: ContextSources,
  { pod, signal }: DriverVolumeRequest,
  { nodePublishSecretRef }: InlineSource,
): Promise<Record<string, string>> {
  const name = nodePublishSecretRef?.name;
  if (!name) return {};
  const namespace = pod.metadata?.namespace ?? '';
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`fetching NodePublishSecretRef ${namespace}/${name} failed: ${why}`, { cause });
  try {
    const { data } = await whileGoing(() => secrets.getSecret(namespace, name), signal);
    return Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString('utf8')]),
    );
  } catch (cause) {
    signal.throwIfAborted();
    throw failed(errorText(cause), cause);
  }
}

/** The tokens of the pod for the audiences that the driver asks for, as JSON; undefined where it asks for none. */
async function tokensOf(
  { tokens }: ContextSources,
  { pod, signal }: DriverVolumeRequest,
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
