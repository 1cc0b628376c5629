/** `created`: exists but has not been started; `unknown`: the runtime could not say. */
export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One container as the container runtime lists it. A container that was restarted has several records, the newest first. */
export interface RuntimeContainer {
  readonly name: string;
  readonly state: RuntimeContainerState;
  /** Of an exited container. */
  readonly exitCode?: number;
}

/** One pod sandbox as the container runtime lists it. */
export interface RuntimeSandbox {
  readonly ready: boolean;
  /** True when the sandbox shares the node's network namespace. */
  readonly hostNetwork?: boolean;
  /** What the runtime says of the sandbox's network; absent when it says nothing, `ip` empty while there is no address. */
  readonly network?: { readonly ip: string };
}
