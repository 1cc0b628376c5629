/** Where the nodes answer. */
export const nodeAddress = '192.0.2.10';
/** Where somebody answers who passes requests on to the node. */
export const behindAddress = '192.0.2.11';
/** virtual-kubelet's tests have it in their code. */
export const nodePort = 10_250;

interface KeyFiles {
  readonly cert: string;
  readonly key: string;
}

/** What the tests of a run share: the control plane and the certificates. */
export interface VirtualKubeletWorld {
  /** For files; it goes at the end of the run. */
  readonly folder: string;
  /** The file of the administrator. */
  readonly kubeconfig: string;
  /** Of the node's API. */
  readonly serving: KeyFiles;
  /** Of the apiserver, when it calls a node. */
  readonly client: KeyFiles;
  /** Of the apiserver, when it passes requests on to another server of the API. */
  readonly proxy: KeyFiles;
  readonly clientCAFile: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly virtualKubeletWorld: VirtualKubeletWorld;
  }
}
