/** What a node asks the cluster's signers for. */
export interface CertificatePurpose {
  readonly signerName: string;
  /** Those of an elliptic key. An RSA key would also need `key encipherment`. */
  readonly usages: readonly string[];
  /** The kubelet's name for the files that keep the certificate: `kubelet-server-current.pem`. */
  readonly filePrefix: string;
  /** What is so while there is none. */
  readonly lacking: string;
  /** The certificate itself, in a sentence. */
  readonly called: string;
}

/** The certificate that a node's API shows. Its signer signs names and addresses of nodes alone. */
export const servingPurpose: CertificatePurpose = {
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'server auth'],
  filePrefix: 'kubelet-server',
  lacking: 'the API of the node has no certificate',
  called: "the certificate of the node's API",
};

/** The certificate that a node shows to the apiserver. kube-controller-manager approves and signs it for those who may ask. */
export const clientPurpose: CertificatePurpose = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
  filePrefix: 'kubelet-client',
  lacking: 'the node has no client certificate',
  called: 'the client certificate of the node',
};
