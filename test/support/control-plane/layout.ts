import { generateKeyPair, randomBytes } from 'node:crypto';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './free-port.ts';

/** Everything about one control plane that stays the same while its servers come and go. */
export interface ControlPlaneLayout {
  readonly dir: string;
  /** A member of system:masters. */
  readonly token: string;
  /** A known user whom nothing is allowed: for 403. */
  readonly powerlessToken: string;
  /** Of the node {@link nodeName}, whom the Node authorizer and the plugin NodeRestriction restrict. */
  readonly nodeToken: string;
  /** Of the first kube-apiserver. */
  readonly port: number;
  readonly etcdUrl: string;
  readonly etcdArgs: readonly string[];
  readonly caFile: string;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function writeServiceAccountKey(file: string): Promise<void> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  await writeFile(file, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
}

/** The node with credentials of its own. */
export const nodeName = 'restricted-node';

/** Each user with a token, as it stands behind the token in the file of tokens. */
const users = ['admin,admin-uid,"system:masters"', 'powerless,powerless-uid', `system:node:${nodeName},node-uid,"system:nodes"`];

/** The tokens of a folder used before stay valid: its kubeconfigs are still about. Users that it lacks are added. */
async function tokensOf(file: string): Promise<Pick<ControlPlaneLayout, 'token' | 'powerlessToken' | 'nodeToken'>> {
  const before = (await exists(file)) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  const lines = users.map((user, index) => before[index] ?? `${randomBytes(24).toString('hex')},${user}`);
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  const [token = '', powerlessToken = '', nodeToken = ''] = lines.map((line) => line.split(',')[0] ?? '');
  return { token, powerlessToken, nodeToken };
}

/** Lays out a control plane in `dir`: keys, tokens, free loopback ports and the flags of etcd. */
export async function layOut(dir: string): Promise<ControlPlaneLayout> {
  const at = (name: string): string => join(dir, name);
  await mkdir(at('certs'), { recursive: true });
  if (!(await exists(at('sa.key')))) await writeServiceAccountKey(at('sa.key'));
  const [port = 0, clientPort, peerPort] = await freePorts(3);
  const [etcdUrl, etcdPeerUrl] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`];
  return {
    dir,
    ...(await tokensOf(at('tokens.csv'))),
    port,
    etcdUrl,
    etcdArgs: [
      `--data-dir=${at('etcd')}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${etcdPeerUrl}`,
      `--initial-advertise-peer-urls=${etcdPeerUrl}`,
      `--initial-cluster=default=${etcdPeerUrl}`,
      '--unsafe-no-fsync',
    ],
    // The server makes a certificate authority of its own on its first start and writes its certificate after the serving one.
    caFile: at('certs/apiserver.crt'),
  };
}

/** The flags of a kube-apiserver on this port. Several of one control plane share keys, tokens and certificate. */
export function apiServerArgs(
  { dir }: Pick<ControlPlaneLayout, 'dir'>,
  port: number,
  etcdUrl: string,
  further: readonly string[],
): readonly string[] {
  const at = (name: string): string => join(dir, name);
  return [
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${at('certs')}`,
    '--bind-address=127.0.0.1',
    // Else it looks for the machine's default route, and does not start where there is none.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--secure-port=${port}`,
    '--service-account-issuer=https://localhost',
    `--service-account-key-file=${at('sa.key')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged',
    ...further,
  ];
}
