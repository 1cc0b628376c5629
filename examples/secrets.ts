// The secrets that an agent's pods name: watched from the first pod to the last. Run it: npm run example examples/secrets.ts
import { Buffer } from 'node:buffer';
import { BasicPodManager, isStatusManagerError } from 'pod-status-manager';
import { SecretManager } from 'pod-status-manager/object-managers';
import { resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// An apiserver in memory. With a cluster: `const kubeConfig = new KubeConfig(); kubeConfig.loadFromDefault();`
const server = await InMemoryApiServer.start();
const secrets = server.objects(resources.secrets);
const metadata = { name: 'password', namespace: 'default' };
secrets.create({ metadata, data: { password: Buffer.from('first').toString('base64') } });

// `strategy: 'cache'` asks when a secret is read, and `'get'` each time
const secretManager = new SecretManager({ kubeConfig: server.kubeConfig() });
const podManager = new BasicPodManager({ secretManager });

/** What a container of the pod would get. */
async function password(): Promise<string> {
  const { data } = await secretManager.getSecret('default', 'password');
  return Buffer.from(data?.password ?? '', 'base64').toString();
}

const pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'uid-of-web' },
  spec: { containers: [], volumes: [{ name: 'v', secret: { secretName: 'password' } }] },
};
podManager.addPod(pod); // opens the watch
console.log(`The password is ${await password()}, by ${server.countRequests(undefined, { resource: 'secrets' })} request.`);

secrets.patch(metadata, { type: 'application/merge-patch+json', body: { stringData: { password: 'second' } } });
while ((await password()) === 'first') await new Promise((resolve) => setImmediate(resolve)); // the watch brings it
console.log(`It has become ${await password()}.`);

podManager.removePod(pod); // closes the watch
const failure = await password().catch((error: unknown) => error);
console.log(isStatusManagerError(failure, 'ERR_NOT_REGISTERED') ? failure.message : failure);

await secretManager.stop();
await server.stop();
