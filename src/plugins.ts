/**
 * Plugins of a node over their sockets: registration, storage drivers that speak CSI v1, and drivers of dynamic resource allocation. It needs the optional peer dependencies
 * `@grpc/grpc-js` and `@bufbuild/protobuf`, which only this entry point and `./cri` load.
 *
 * @module pod-status-manager/plugins
 */
import './base/node-version.ts';

export { GrpcPlugins, type GrpcPluginsOptions } from './kubelet/plugins/grpc-plugins.ts';
