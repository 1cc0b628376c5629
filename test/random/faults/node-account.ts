import type { AdminClient } from '../../support/admin-client.ts';
import type { Answer } from '../../support/answers.ts';
import { persist } from './pause.ts';

const name = 'node-agent';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const rules = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['patch'] },
];

/** The service account of the node agent, which may do what the parts of an agent need and nothing else. */
export class NodeAccount {
  readonly #admin: AdminClient;

  constructor(admin: AdminClient) {
    this.#admin = admin;
  }

  /** The account, its role, and a token. What is there already is taken as it is. */
  async create(namespace: string): Promise<string> {
    await this.#send('POST', `${rbac}/clusterroles`, { metadata: { name }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    await this.#send('POST', `${rbac}/namespaces/${namespace}/rolebindings`, { metadata: { name }, roleRef, subjects });
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.#send('POST', accounts, { metadata: { name } });
    const { body } = await this.#send('POST', `${accounts}/${name}/token`, { spec: { expirationSeconds: 7200 } });
    return (body as { status: { token: string } }).status.token;
  }

  async remove(namespace: string): Promise<void> {
    await this.#send('DELETE', `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`, {});
  }

  #send(method: 'POST' | 'DELETE', path: string, body: object): Promise<Answer> {
    return persist(async () => {
      const answer = await this.#admin.send(method, path, { body });
      if (answer.status >= 300 && answer.status !== 409) throw new Error(`${method} ${path} answered ${answer.status}`);
      return answer;
    }, AbortSignal.timeout(30_000));
  }
}
