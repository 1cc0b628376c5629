/**
 * Any resource of the apiserver, listed and watched into a store with indexes, and a client with every verb on any resource.
 *
 * @module pod-status-manager/reflector
 */
import './node-version.ts';

export {
  type ApiObject,
  type ApiResource,
  type ApiResourceDefinition,
  apiResource,
  type KnownResources,
  type ResourceTarget,
  resourcePath,
  resources,
} from './client/api-resource.ts';
export { type ObjectNamespace, ResourceClient, type ResourceTransport } from './client/resource-client.ts';
export type {
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectName,
  ObjectPage,
  PatchType,
  ResourcePatch,
  SelectionOptions,
  WatchOptions,
  WriteOptions,
} from './client/resource-requests.ts';
export type { ReadEvent, VersionedObject, WatchEvent } from './client/watch-line.ts';
export type { ChangeQueue } from './reflector/change-queue.ts';
export type { ChangeListener, ReflectorHandlers } from './reflector/handler-calls.ts';
export type { NetChange, ObjectChange } from './reflector/net-change.ts';
export { ObjectStore, type ObjectStoreOptions } from './reflector/object-store.ts';
export type { Transform } from './reflector/received-objects.ts';
export { Reflector } from './reflector/reflector.ts';
export type { ReflectorOptions } from './reflector/reflector-options.ts';
export type { IndexFunction } from './reflector/store-index.ts';
