export interface KubeconfigParts {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
  readonly powerlessToken: string;
}

/** A kubeconfig of two contexts: `admin` (the current one) and `powerless`, whom the server knows and allows nothing. */
export function kubeconfigYaml({ url, caPem, token, powerlessToken }: KubeconfigParts): string {
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
contexts:
- name: admin
  context:
    cluster: control-plane
    user: admin
- name: powerless
  context:
    cluster: control-plane
    user: powerless
current-context: admin
`;
}
