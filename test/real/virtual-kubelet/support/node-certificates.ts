import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import type { VirtualKubeletWorld } from './world.ts';

export interface NodeCertificates extends Pick<VirtualKubeletWorld, 'serving' | 'clientCAFile' | 'client'> {}

/** The certificates of the node's API, and of the apiserver as its client. */
export async function writeCertificates(folder: string): Promise<NodeCertificates> {
  const authority = createCertificateAuthority('node-clients');
  const pairs = {
    serving: authority.issue(),
    client: authority.issueClient({ commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }),
  };
  const files = (name: keyof typeof pairs) => ({ cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) });
  for (const name of ['serving', 'client'] as const) {
    await writeFile(files(name).cert, pairs[name].cert);
    await writeFile(files(name).key, pairs[name].key, { mode: 0o600 });
  }
  const clientCAFile = join(folder, 'client-ca.crt');
  await writeFile(clientCAFile, authority.cert);
  return { serving: files('serving'), client: files('client'), clientCAFile };
}

/** The flags of an apiserver that shows a certificate of these when it calls a node. */
export function kubeletClientFlags({ client }: Pick<NodeCertificates, 'client'>): string[] {
  return [`--kubelet-client-certificate=${client.cert}`, `--kubelet-client-key=${client.key}`];
}
