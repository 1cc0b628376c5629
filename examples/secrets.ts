// The secrets that an agent's pods name: watched from the first pod to the last.
// Run it: node examples/secrets.ts [KUBECONFIG]
import { Buffer } from 'node:buffer';
import { BasicPodManager, isStatusManagerError, KubeTransport, loadClientConfig } from 'pod-status-manager';
import { SecretManager } from 'pod-status-manager/object-managers';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);
const secrets = new ResourceClient(transport, resources.secrets);
const secret = { name: `password-${process.pid}`, namespace: 'default' };
await secrets.create({ metadata: secret, data: { password: Buffer.from('first').toString('base64') } });

// `strategy: 'cache'` asks when a secret is read, and `'get'` each time
const secretManager = new SecretManager({ transport });
const podManager = new BasicPodManager({ secretManager });

/** What a container of the pod would get. */
async function password(): Promise<string> {
  const { data } = await secretManager.getSecret(secret.namespace, secret.name);
  return Buffer.from(data?.password ?? '', 'base64').toString();
}

const pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'uid-of-web' },
  spec: { containers: [], volumes: [{ name: 'v', secret: { secretName: secret.name } }] },
};
podManager.addPod(pod); // opens the watch
console.log(`The password is ${await password()}.`);

await secrets.patch(secret, { type: 'application/merge-patch+json', body: { stringData: { password: 'second' } } });
while ((await password()) === 'first') await new Promise((resolve) => setImmediate(resolve)); // the watch brings it
console.log(`It has become ${await password()}.`);

podManager.removePod(pod); // closes the watch
const failure = await password().catch((error: unknown) => error);
console.log(isStatusManagerError(failure, 'ERR_NOT_REGISTERED') ? 'The pod is gone, and nobody else needs the secret.' : failure);

await secretManager.stop();
await secrets.delete(secret);
await transport.close();
await server?.stop();
