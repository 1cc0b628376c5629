import { describe, expect, it } from 'vitest';
import {
  type ApiResourceDefinition,
  apiResource,
  resourcePath,
  resources,
} from '../../../../src/client/resources/api-resource.ts';

const widgets = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true };

describe('resourcePath', () => {
  it.each([
    [resources.pods, {}, '/api/v1/pods'],
    [resources.pods, { namespace: 'a' }, '/api/v1/namespaces/a/pods'],
    [resources.pods, { namespace: 'a', name: 'b' }, '/api/v1/namespaces/a/pods/b'],
    [resources.pods, { namespace: 'a', name: 'b', subresource: 'binding' }, '/api/v1/namespaces/a/pods/b/binding'],
    [resources.nodes, { name: 'n' }, '/api/v1/nodes/n'],
    [resources.nodes, { name: 'n', subresource: 'status' }, '/api/v1/nodes/n/status'],
    [
      resources.leases,
      { namespace: 'kube-node-lease', name: 'n' },
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n',
    ],
    [apiResource(widgets), { namespace: 'a', name: 'é b' }, '/apis/example.com/v1/namespaces/a/widgets/%C3%A9%20b'],
  ])('of %o and %o is right', (resource, target, path) => {
    expect(resourcePath(resource, target)).toBe(path);
  });

  it.each([
    [resources.pods, { name: 'b' }, /`namespace`/],
    [resources.pods, { namespace: '', name: 'b' }, /`namespace`/],
    [resources.pods, { namespace: 'a', name: '' }, /`name`/],
    [resources.pods, { namespace: 'a', name: 'b/status' }, /`name`/],
    [resources.pods, { namespace: '..', name: 'b' }, /`namespace`/],
    [resources.pods, { namespace: 'a', subresource: 'status' }, /`name`/],
    [resources.pods, { namespace: 'a', name: 'b', subresource: 'a/b' }, /`subresource`/],
    [resources.nodes, { namespace: 'a', name: 'n' }, /`namespace`.*nodes belong to the cluster/],
  ])('refuses %o with %o, naming what is wrong', (resource, target, message) => {
    expect(() => resourcePath(resource, target)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringMatching(message) }),
    );
  });
});

describe('apiResource', () => {
  it('gives an object that nobody can change', () => {
    const resource = apiResource(widgets);
    expect(resource).toEqual(widgets);
    expect(Object.isFrozen(resource)).toBe(true);
  });

  it.each([
    ['group', 7],
    ['group', 'a/b'],
    ['version', ''],
    ['resource', 'pods/status'],
    ['kind', undefined],
    ['namespaced', 'yes'],
    ['plural', 'widgets'],
  ])('refuses a %s that is %o', (member, value) => {
    const definition = { ...widgets, [member]: value } as unknown as ApiResourceDefinition;
    const message = expect.stringContaining(`\`resource.${member}\``);
    expect(() => apiResource(definition)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message }));
  });
});
