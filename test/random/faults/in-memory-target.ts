import { randomBytes } from 'node:crypto';
import { InMemoryApiServer } from '../../../src/testing/apiserver/in-memory-apiserver.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { createCertificateAuthority } from '../../support/certificate-authority.ts';
import type { Checker } from '../chaos/check/checker.ts';
import { type Disturbance, type DisturbanceParts, type FaultTarget, pointAt, type ServerAccess } from './fault-target.ts';
import type { History } from './history.ts';
import { pause } from './pause.ts';
import { WatchHistory } from './watch-history.ts';

/** The in-memory apiserver. The proxy before it checks certificates and tokens. */
export class InMemoryTarget implements FaultTarget, ServerAccess {
  readonly kind = 'in-memory';
  readonly authority = createCertificateAuthority('fault-suite');
  readonly admin: AdminClient;
  readonly #server: InMemoryApiServer;

  private constructor(server: InMemoryApiServer) {
    this.#server = server;
    this.admin = new AdminClient(server.kubeConfig());
  }

  static async start({ bookmarkIntervalMs = 60_000 }: { readonly bookmarkIntervalMs?: number } = {}): Promise<InMemoryTarget> {
    return new InMemoryTarget(await InMemoryApiServer.start({ requestLogSize: 0, bookmarkIntervalMs }));
  }

  get url(): string {
    return this.#server.url;
  }

  get access(): ServerAccess {
    return this;
  }

  async newToken(): Promise<string> {
    return randomBytes(8).toString('hex');
  }

  histories(namespace: string, checker: (name: string) => Checker): History[] {
    return [new WatchHistory(this.#server.kubeConfig(), namespace, checker('watch'))];
  }

  disturbances({ proxy, kubeConfig }: DisturbanceParts): Disturbance[] {
    const drop = (kind: '410' | 'end'): Disturbance => ({
      kind: `watches dropped (${kind})`,
      run: async () => {
        this.#server.dropWatches({ kind, resource: '*' });
      },
    });
    const rotate = { kind: 'certificate rotated', run: async () => proxy.rotateCertificate() };
    const revoke = async (): Promise<void> => {
      const token = await this.newToken();
      proxy.expectedToken = token;
      await pause(1500);
      pointAt(kubeConfig, proxy.url, token, this.authority.cert);
    };
    return [drop('end'), rotate, { kind: 'token revoked and given back', run: revoke }, drop('end'), rotate];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close();
    await this.#server.stop();
  }
}
