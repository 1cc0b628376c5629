export {
  type ApiObject,
  type ApiResource,
  type ApiResourceDefinition,
  apiResource,
  type ResourceTarget,
  resourcePath,
  resources,
} from './client/api-resource.ts';
export { ResourceClient, type ResourceTransport } from './client/resource-client.ts';
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
export type { VersionedObject, WatchEvent } from './client/watch-line.ts';
