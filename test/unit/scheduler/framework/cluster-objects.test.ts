import { describe, expect, it } from 'vitest';
import { type ApiObject, type ApiResource, apiResource, resources } from '../../../../src/client/resources/api-resource.ts';
import { ClusterObjects, eventNameOf, type ObjectLister } from '../../../../src/scheduler/framework/cluster-objects.ts';

interface Widget extends ApiObject {
  readonly spec?: { readonly size?: number };
}

const widgets: ApiResource<Widget> = apiResource({
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
});
const widget = (name: string, size = 1, namespace = 'd') => ({ metadata: { name, namespace }, spec: { size } });

function kept(): { objects: ClusterObjects; lister: ObjectLister<Widget>; failures: unknown[] } {
  const failures: unknown[] = [];
  const objects = new ClusterObjects((error) => failures.push(error));
  return { objects, lister: objects.lister(widgets), failures };
}

describe('the objects that plugins ask for', () => {
  it('are found by name, by namespace and by an index', () => {
    const { objects, lister } = kept();
    const bySize = lister.index(({ spec }) => [String(spec?.size)]);
    const [a, b, c] = [widget('a'), widget('b', 2), widget('c', 1, 'e')];
    for (const object of [a, b, c]) objects.set(widgets, object);
    expect(lister.get('d', 'a')).toBe(a);
    expect(lister.get('e', 'a')).toBeUndefined();
    expect(lister.list()).toEqual([a, b, c]);
    expect(lister.list('e')).toEqual([c]);
    expect(bySize('1')).toEqual([a, c]);
    const grown = widget('a', 2);
    objects.set(widgets, grown);
    objects.delete(widgets, 'd', 'b');
    expect([bySize('1'), bySize('2')]).toEqual([[c], [grown]]);
  });

  it('are none of a resource that nobody has asked for', () => {
    const { objects } = kept();
    expect(objects.set(resources.services, { metadata: { name: 'web', namespace: 'd' } })).toBeUndefined();
    expect(objects.delete(resources.services, 'd', 'web')).toBeUndefined();
    expect(objects.resources).toEqual([widgets]);
    expect(objects.lister(resources.services).list()).toEqual([]);
  });

  it('are of one lister for a resource, whatever object names it, and of none once the plugins are made', () => {
    const { objects, lister } = kept();
    objects.seal();
    expect(objects.lister({ ...widgets })).toBe(lister);
    expect(() => objects.lister(resources.services)).toThrow(
      new TypeError('objects of Service must be asked for while the plugin is made: they are not watched'),
    );
  });

  it('tell of each change once it can be seen, and of none where nothing changes', () => {
    const { objects, lister } = kept();
    const told: unknown[] = [];
    lister.onChange((before, after) => told.push([before, after, lister.get('d', 'a')]));
    const [one, two] = [widget('a'), widget('a', 2)];
    objects.set(widgets, one);
    objects.set(widgets, one);
    expect(objects.set(widgets, two)).toEqual({ before: one, after: two });
    expect(objects.delete(widgets, 'd', 'a')).toEqual({ before: two, after: undefined });
    expect(objects.delete(widgets, 'd', 'a')).toBeUndefined();
    expect(told).toEqual([
      [undefined, one, one],
      [one, two, two],
      [two, undefined, undefined],
    ]);
  });

  it('tell the others where one handler throws', () => {
    const { objects, lister, failures } = kept();
    const told: unknown[] = [];
    lister.onChange(() => {
      throw new Error('no idea');
    });
    lister.onChange((_before, after) => told.push(after));
    const object = widget('a');
    objects.set(widgets, object);
    expect([told, failures]).toEqual([[object], [new Error('no idea')]]);
  });

  it('leave out of an index what its function throws at', () => {
    const { objects, lister } = kept();
    const bySize = lister.index(({ spec }) => [String(spec?.size?.toFixed())]);
    objects.set(widgets, { metadata: { name: 'odd', namespace: 'd' }, spec: { size: 'large' } } as ApiObject);
    objects.set(widgets, widget('a'));
    expect(bySize('1')).toEqual([widget('a')]);
    expect(lister.list()).toHaveLength(2);
  });
});

it.each([
  [resources.pods, /beside pods and nodes, which are in snapshot\(\), got "Pod"/],
  [resources.nodes, /got "Node"/],
  ['persistentvolumes', /Expected `objects` to be a resource, as apiResource makes it, got "persistentvolumes" \(string\)/],
  [undefined, /got undefined/],
  [{ resource: 'widgets' }, /Expected `resource.group` to be text/],
])('no lister is given for %o', (resource, message) => {
  const { objects } = kept();
  expect(() => objects.lister(resource as ApiResource)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  expect(() => objects.lister(resource as ApiResource)).toThrow(message);
});

it.each([
  [resources.pods, 'Pod'],
  [resources.persistentVolumes, 'PersistentVolume'],
  [resources.csiStorageCapacities, 'CSIStorageCapacity'],
  [widgets, 'widgets.v1.example.com'],
  [{ ...resources.persistentVolumes, group: 'example.com' }, 'persistentvolumes.v1.example.com'],
])('%o is named %s in events', (resource, name) => {
  expect(eventNameOf(resource)).toBe(name);
});
