/**
 * A container runtime that speaks CRI v1, such as containerd or CRI-O. It needs the optional peer dependency
 * `@bufbuild/protobuf`, which only `./plugins` loads beside it.
 *
 * @module pod-status-manager/cri
 */
import './base/node-version.ts';

export type { CriRuntimeOptions } from './kubelet/cri/cri-options.ts';
export { CriRuntime } from './kubelet/cri/cri-runtime.ts';
