/**
 * Plugins of a node over their sockets: registration, storage drivers that speak CSI v1, and drivers of dynamic resource allocation. It needs the optional peer dependencies
 * `@grpc/grpc-js`, which only this entry point loads, and `@bufbuild/protobuf`, which `./cri` needs, too.
 *
 * @module pod-status-manager/plugins
 */
import './base/node-version.ts';

export { GrpcPlugins, type GrpcPluginsOptions } from './kubelet/plugins/grpc-plugins.ts';
