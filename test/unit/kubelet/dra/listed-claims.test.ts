import { expect, it } from 'vitest';
import type { Pod } from '../../../../src/index.ts';
import { listedClaims } from '../../../../src/kubelet/dra/listed-claims.ts';
import { claimOf, driverName, going, podOf, setUp, TestDriver } from './dra-world.ts';

const namespace = 'default';

/** Claims `a`, `b` and `c` that are ready for the pods `web` and, of these, `a` for `other`. */
async function ready() {
  const { objects, drivers, driver, claims, kept } = await setUp();
  const network = new TestDriver('net.example.com');
  drivers.set(network.name, network);
  objects.set('a', claimOf('a', ['web', 'other'], {}, [driverName, network.name]));
  for (const name of ['b', 'c']) objects.set(name, claimOf(name, ['web']));
  driver.onPrepare = async (asked) => {
    const devices = [{ ...driver.deviceOf('one', ['big']), shareID: 'share-1' }, driver.deviceOf('two', ['small'])];
    return new Map(asked.map(({ uid }) => [uid, { devices, error: '' }]));
  };
  const listed = (pod: Pod, container: object) => [...listedClaims(pod, container as never, (of, name) => kept.get(of, name))];
  return { objects, driver, claims, listed };
}

const using = (...names: string[]) => ({ name: 'app', resources: { claims: names.map((name) => ({ name })) } });

it('shows the claims that a container names, whole, with their shares, in the order of the pod', async () => {
  const { claims, listed } = await ready();
  const pod = podOf('web', ['a', 'b', 'c']);
  await claims.prepare(pod, going);
  const one = { driverName, poolName: 'node-1', deviceName: 'one-device', shareID: 'share-1' };
  const two = { driverName, poolName: 'node-1', deviceName: 'two-device', cdiDeviceIDs: ['gpu.example.com/device=two'] };
  const both = [{ ...one, cdiDeviceIDs: ['gpu.example.com/device=one'] }, two];
  const network = { driverName: 'net.example.com', poolName: 'node-1', deviceName: 'a-device' };
  expect(listed(pod, using('b', 'a'))).toEqual([
    { namespace, name: 'a', devices: [...both, { ...network, cdiDeviceIDs: ['net.example.com/device=a'] }] },
    { namespace, name: 'b', devices: both },
  ]);
  const small = { name: 'app', resources: { claims: [{ name: 'c', request: 'small' }] } };
  expect(listed(pod, small)).toEqual([{ namespace, name: 'c', devices: both }]);
  expect(listed(pod, { name: 'plain' })).toEqual([]);
});

it('shows nothing of a claim that was not made ready for the pod, and no devices before a driver has answered', async () => {
  const { driver, claims, listed } = await ready();
  const web = podOf('web', ['a', 'b']);
  const other = podOf('other', ['a']);
  await claims.prepare(web, going);
  expect(listed(other, using('a'))).toEqual([]);
  await claims.prepare(other, going);
  expect(listed(other, using('a'))).toMatchObject([{ name: 'a', devices: [{}, {}, {}] }]);
  await claims.unprepare(web, going);
  expect(listed(web, using('a', 'b'))).toEqual([]);
  expect(listed(other, using('a'))).toHaveLength(1);
  driver.onPrepare = async () => new Map();
  await expect(claims.prepare(web, going)).rejects.toThrow('skipped 1 ResourceClaims');
  expect(listed(web, using('b'))).toEqual([{ namespace, name: 'b', devices: [] }]);
});

it('finds claims by templates, and those for extended resources', async () => {
  const { objects, claims, listed } = await ready();
  const owner = { controller: true, uid: 'web', kind: 'Pod', name: 'web' };
  objects.set('made', claimOf('made', ['web'], { ownerReferences: [owner] }));
  const requestMappings = [{ containerName: 'app', resourceName: 'example.com/gpu', requestName: 'all' }];
  const status = {
    resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made' }, { name: 'needless' }],
    extendedResourceClaimStatus: { resourceClaimName: 'c', requestMappings },
  };
  const fromTemplate = { resourceClaimTemplateName: 't' };
  const resourceClaims = [
    { name: 'gpu', ...fromTemplate },
    { name: 'needless', ...fromTemplate },
  ];
  const pod = { ...podOf('web', [], { resourceClaims }), status } as Pod;
  await claims.prepare(pod, going);
  expect(listed(pod, using('gpu', 'needless')).map(({ name }) => name)).toEqual(['made', 'c']);
  expect(listed(pod, { ...using('gpu'), name: 'side' }).map(({ name }) => name)).toEqual(['made']);
});
