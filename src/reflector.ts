/**
 * Any resource of the apiserver, listed and watched into a store with indexes, and a client with every verb on any resource.
 *
 * @module pod-status-manager/reflector
 */
import './base/node-version.ts';

export type { ChangeQueue } from './client/reflector/change-queue.ts';
export type { ChangeListener, NetChange, ObjectChange, ReflectorHandlers } from './client/reflector/handler-calls.ts';
export type { IndexFunction } from './client/reflector/object-store.ts';
export { ObjectStore, type ObjectStoreOptions } from './client/reflector/object-store.ts';
export type { Transform } from './client/reflector/received-objects.ts';
export { Reflector } from './client/reflector/reflector.ts';
export type { ReflectorOptions } from './client/reflector/reflector-options.ts';
export {
  type ApiObject,
  type ApiResource,
  type ApiResourceDefinition,
  apiResource,
  type KnownResources,
  type ResourceTarget,
  resourcePath,
  resources,
} from './client/resources/api-resource.ts';
export { type ObjectNamespace, ResourceClient, type ResourceTransport } from './client/resources/resource-client.ts';
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
} from './client/resources/resource-requests.ts';
export type { ReadEvent, VersionedObject, WatchEvent } from './client/resources/watch-line.ts';
