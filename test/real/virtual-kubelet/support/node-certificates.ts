import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import type { VirtualKubeletWorld } from './world.ts';

export interface NodeCertificates extends Pick<VirtualKubeletWorld, 'serving' | 'clientCAFile' | 'client' | 'proxy'> {}

/** The certificates of the node's API, and of the apiserver as its client. */
export async function writeCertificates(folder: string): Promise<NodeCertificates> {
  const authority = createCertificateAuthority('node-clients');
  const pairs = {
    serving: authority.issue(),
    client: authority.issueClient({ commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }),
    proxy: authority.issueClient({ commonName: 'front-proxy-client' }),
  };
  const files = (name: keyof typeof pairs) => ({ cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) });
  for (const name of ['serving', 'client', 'proxy'] as const) {
    await writeFile(files(name).cert, pairs[name].cert);
    await writeFile(files(name).key, pairs[name].key, { mode: 0o600 });
  }
  const clientCAFile = join(folder, 'client-ca.crt');
  await writeFile(clientCAFile, authority.cert);
  return { serving: files('serving'), client: files('client'), proxy: files('proxy'), clientCAFile };
}

/** The flags of an apiserver that shows a certificate of these when it calls a node. */
export function kubeletClientFlags({ client }: Pick<NodeCertificates, 'client'>): string[] {
  return [`--kubelet-client-certificate=${client.cert}`, `--kubelet-client-key=${client.key}`];
}

/** The flags of an apiserver that passes requests on to other servers, and of what these check them with. */
export function aggregatorFlags({ proxy, clientCAFile }: Pick<NodeCertificates, 'proxy' | 'clientCAFile'>): string[] {
  return [
    `--proxy-client-cert-file=${proxy.cert}`,
    `--proxy-client-key-file=${proxy.key}`,
    `--requestheader-client-ca-file=${clientCAFile}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ];
}
