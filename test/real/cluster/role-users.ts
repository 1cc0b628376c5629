import { readFile } from 'node:fs/promises';
import { KubeConfig, loadAllYaml } from '@kubernetes/client-node';
import { expect } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import type { AdminClient } from '../../support/admin-client.ts';

const rbacPath = '/apis/rbac.authorization.k8s.io/v1';
const collections: Readonly<Record<string, string>> = {
  ClusterRole: `${rbacPath}/clusterroles`,
  ClusterRoleBinding: `${rbacPath}/clusterrolebindings`,
  ServiceAccount: '/api/v1/namespaces/kube-system/serviceaccounts',
};

/** Creates roles on a server, and service accounts that have them. */
export class RoleUsers {
  readonly #admin: AdminClient;
  readonly #adminConfig: KubeConfig;

  constructor(admin: AdminClient, adminConfig: KubeConfig) {
    this.#admin = admin;
    this.#adminConfig = adminConfig;
  }

  /** What is there already stays as it is. */
  async apply(objects: readonly JsonObject[]): Promise<void> {
    for (const object of objects) {
      const answer = await this.#admin.send('POST', collectionOf(object), { body: object });
      expect([201, 409]).toContain(answer.status);
    }
  }

  /** A file of the folder deploy. Resolves to its objects. */
  async applyFile(name: string): Promise<JsonObject[]> {
    const objects = loadAllYaml(await readFile(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8')) as JsonObject[];
    await this.apply(objects);
    return objects;
  }

  /** A new token of the service account. */
  async tokenOf(serviceAccount: string): Promise<string> {
    const path = `${collections.ServiceAccount}/${serviceAccount}/token`;
    const answer = await this.#admin.send('POST', path, { body: { spec: { expirationSeconds: 3600 } } });
    expect(answer.status).toBe(201);
    return (answer.body as { status: { token: string } }).status.token;
  }

  /** A kubeconfig of the service account, with a new token from the apiserver. */
  async configOf(serviceAccount: string): Promise<KubeConfig> {
    const token = await this.tokenOf(serviceAccount);
    const cluster = this.#adminConfig.getCurrentCluster();
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [cluster],
      users: [{ name: serviceAccount, token }],
      contexts: [{ name: 'agent', cluster: cluster?.name, user: serviceAccount }],
      currentContext: 'agent',
    });
    return config;
  }
}

function collectionOf({ kind, metadata }: JsonObject): string {
  const { namespace } = (metadata ?? {}) as { namespace?: string };
  return collections[String(kind)] ?? `${rbacPath}/namespaces/${namespace}/${String(kind).toLowerCase()}s`;
}
