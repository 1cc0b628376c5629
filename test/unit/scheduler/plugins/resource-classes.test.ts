import { describe, expect, it } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { ResourceClasses } from '../../../../src/scheduler/plugins/resource-classes.ts';
import { clusterObjects } from '../../../support/cluster-objects.ts';
import { barePod } from '../../../support/pods.ts';

const old = '2026-01-01T00:00:00Z';
const young = '2026-01-01T00:00:01Z';
const gpu = 'example.com/gpu';

const classOf = (name: string, extendedResourceName?: string | null, creationTimestamp = old) => ({
  metadata: { name, creationTimestamp },
  spec: { extendedResourceName },
});

function world(...deviceClasses: readonly object[]) {
  const objects = clusterObjects({ deviceClasses });
  const lister = objects.lister(resources.deviceClasses);
  return { objects, classes: new ResourceClasses(lister as never) };
}

describe('a class of devices', () => {
  it.each([
    ['the resource that it names', 'a', gpu],
    ['the resource of its own name', 'a', 'deviceclass.resource.kubernetes.io/a'],
    ['no other resource', undefined, 'example.com/net'],
    ['no resource of another class', undefined, 'deviceclass.resource.kubernetes.io/b'],
  ])('stands for %s', (_what, found, resource) => {
    expect(world(classOf('a', gpu)).classes.classNameOf(resource)).toBe(found);
  });

  it.each([
    ['memory', 'memory'],
    ['example.kubernetes.io/gpu', 'example.kubernetes.io/gpu'],
  ])('never stands for what is no extended resource: %s', (_what, resource) => {
    expect(world(classOf('a', resource)).classes.classNameOf(resource)).toBeUndefined();
  });

  it('without a name for a resource stands for its own alone', () => {
    const { classes } = world(classOf('a', null), classOf('b', ''));
    expect(['a', 'b'].map((name) => classes.classNameOf(`deviceclass.resource.kubernetes.io/${name}`))).toEqual(['a', 'b']);
    expect(classes.classNameOf('')).toBeUndefined();
  });

  it.each([
    ['the newest', [classOf('a', gpu), classOf('b', gpu, young)], 'b'],
    ['the newest, in whatever order', [classOf('b', gpu, young), classOf('a', gpu)], 'b'],
    ['of equally new ones the first by name', [classOf('c', gpu), classOf('b', gpu)], 'b'],
  ])('is one of several of which %s counts', (_what, given, found) => {
    const { classes } = world(...given);
    expect(classes.classNameOf(gpu)).toBe(found);
    expect(classes.classNameOf('deviceclass.resource.kubernetes.io/b')).toBe('b');
  });

  it('that changes or goes leaves the resource to another one', () => {
    const { objects, classes } = world(classOf('a', gpu), classOf('b', gpu, young));
    objects.set(resources.deviceClasses, classOf('b', 'example.com/net', young) as never);
    expect([classes.classNameOf(gpu), classes.classNameOf('example.com/net')]).toEqual(['a', 'b']);
    objects.delete(resources.deviceClasses, undefined, 'a');
    expect(classes.classNameOf(gpu)).toBeUndefined();
  });

  it('is asked for by a pod of which any container does', () => {
    const { classes } = world(classOf('a', gpu));
    const asking = { name: 'c', resources: { requests: { [gpu]: '1' } } };
    expect(classes.areAskedBy(barePod({ spec: { containers: [asking] } }))).toBe(true);
    expect(classes.areAskedBy(barePod({ spec: { containers: [], initContainers: [asking] } }))).toBe(true);
    expect(classes.areAskedBy(barePod({ spec: { containers: [{ name: 'c' }] } }))).toBe(false);
  });
});
