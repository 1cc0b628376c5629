export interface KubeconfigParts {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
  readonly powerlessToken: string;
  readonly nodeToken: string;
}

/**
 * A kubeconfig of three contexts: `admin` (the current one), `powerless`, whom the server knows and allows nothing, and
 * `node`, a node with the credentials of a kubelet.
 */
export function kubeconfigYaml({ url, caPem, token, powerlessToken, nodeToken }: KubeconfigParts): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: control-plane
  cluster:
    server: ${url}
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
users:
- name: admin
  user:
    token: ${token}
- name: powerless
  user:
    token: ${powerlessToken}
- name: node
  user:
    token: ${nodeToken}
contexts:
- name: admin
  context:
    cluster: control-plane
    user: admin
- name: powerless
  context:
    cluster: control-plane
    user: powerless
- name: node
  context:
    cluster: control-plane
    user: node
current-context: admin
`;
}
