import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  kubeletClientFlags,
  type NodeCertificates,
  writeCertificates,
} from '../../test/real/virtual-kubelet/support/node-certificates.ts';
import { ControlPlane } from '../../test/support/control-plane/control-plane.ts';

/** The namespace of the service accounts that the nodes use: the audit log has the requests of these alone. */
export const accountsNamespace = 'bench-nodes';

/** Each request once, when it is answered; a watch when it ends. */
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts:${accountsNamespace}"]}
- {level: None}
`;

/** A control plane that writes down each request of the nodes. */
export class AuditedControlPlane implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  /** Of the nodes' API, and of the apiserver when it calls a node. */
  readonly certificates: NodeCertificates;
  readonly #dir: string;

  private constructor(controlPlane: ControlPlane, certificates: NodeCertificates, dir: string) {
    this.controlPlane = controlPlane;
    this.certificates = certificates;
    this.#dir = dir;
  }

  static async start(): Promise<AuditedControlPlane> {
    const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-audit-'));
    await writeFile(join(dir, 'policy.yaml'), policy);
    const flags = {
      'audit-policy-file': join(dir, 'policy.yaml'),
      'audit-log-path': join(dir, 'audit.log'),
      'audit-log-mode': 'blocking',
    };
    const certificates = await writeCertificates(dir);
    const audit = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const controlPlane = await ControlPlane.start({ apiServerArgs: [...audit, ...kubeletClientFlags(certificates)] });
    await controlPlane.writeKubeconfig(join(dir, 'kubeconfig'));
    return new AuditedControlPlane(controlPlane, certificates, dir);
  }

  /** The file of the administrator. */
  get kubeconfig(): string {
    return join(this.#dir, 'kubeconfig');
  }

  auditLog(): Promise<string> {
    return readFile(join(this.#dir, 'audit.log'), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
