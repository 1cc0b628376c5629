import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { DraClaim } from '../../../../src/kubelet.ts';
import { until } from '../../../support/until.ts';
import { claimOf, going, podOf, setUp, TestDriver } from './dra-world.ts';

const container = (pod: ReturnType<typeof podOf>) => pod.spec?.containers?.[0] as never;

describe('claims that are made ready', () => {
  it('are all of a driver in one call, and their devices are what containers get that name them', async () => {
    const { objects, driver, claims } = await setUp();
    for (const name of ['a', 'b', 'c']) objects.set(name, claimOf(name, ['web']));
    const pod = podOf('web', ['a', 'b', 'c']);
    await claims.prepare(pod, going);
    expect(driver.calls).toEqual(['prepare a b c']);
    const names = ['a', 'b', 'c'].map((name) => `gpu.example.com/device=${name}`);
    expect(await claims.cdiDevicesOf(pod, container(pod))).toEqual(names);
    const one = { name: 'app', resources: { claims: [{ name: 'b' }] } };
    expect(await claims.cdiDevicesOf(pod, one as never)).toEqual(['gpu.example.com/device=b']);
    expect(await claims.cdiDevicesOf(pod, { name: 'plain' } as never)).toEqual([]);
  });

  it('are made ready once for the pods that share them, also at the same time, and given back with the last one', async () => {
    const { objects, driver, claims } = await setUp();
    objects.set('a', claimOf('a', ['one', 'two']));
    await Promise.all([claims.prepare(podOf('one', ['a']), going), claims.prepare(podOf('two', ['a']), going)]);
    expect(driver.calls).toEqual(['prepare a']);
    await claims.unprepare(podOf('one', ['a']), going);
    expect(driver.calls).toEqual(['prepare a']);
    await claims.unprepare(podOf('two', ['a']), going);
    expect(driver.calls).toEqual(['prepare a', 'unprepare a']);
    await claims.unprepare(podOf('two', ['a']), going);
    expect(driver.calls).toHaveLength(2);
  });

  it('that another pod has got meanwhile stay with it, however often they are to be given back', async () => {
    const { objects, driver, claims, kept } = await setUp();
    objects.set('a', claimOf('a', ['one', 'two']));
    await claims.prepare(podOf('one', ['a']), going);
    const answer = Promise.withResolvers<void>();
    driver.onUnprepare = (asked) => answer.promise.then(() => new Map(asked.map(({ uid }) => [uid, ''])));
    const first = claims.unprepare(podOf('one', ['a']), going);
    await until(() => driver.calls.length === 2);
    const other = claims.prepare(podOf('two', ['a']), going);
    await until(() => objects.size === 1);
    const again = claims.unprepare(podOf('one', ['a']), going);
    answer.resolve();
    await Promise.all([first, other, again]);
    expect(driver.calls).toEqual(['prepare a', 'unprepare a', 'prepare a']);
    expect(kept.of('two')).toHaveLength(1);
  });

  it('come from a template by the status of the pod, and belong to the pod', async () => {
    const { objects, driver, claims } = await setUp();
    const pod = podOf('web', [], { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] });
    await expect(claims.prepare(pod, going)).rejects.toThrow(
      'prepare dynamic resources: pod "default/web": ResourceClaim not created yet',
    );
    const told = { ...pod, status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made' }] } };
    objects.set('made', claimOf('made', ['web']));
    await expect(claims.prepare(told, going)).rejects.toThrow(
      'ResourceClaim default/made was not created for Pod default/web (Pod is not owner)',
    );
    objects.set(
      'made',
      claimOf('made', ['web'], { ownerReferences: [{ controller: true, uid: 'web', kind: 'Pod', name: 'web' }] }),
    );
    await claims.prepare(told, going);
    const user = { name: 'app', resources: { claims: [{ name: 'gpu' }] } };
    expect(await claims.cdiDevicesOf(told, user as never)).toEqual(['gpu.example.com/device=made']);
    const needless = { ...pod, status: { resourceClaimStatuses: [{ name: 'gpu' }] } };
    await claims.prepare(needless, going);
    expect(driver.calls).toEqual(['prepare made']);
  });

  it('are those of a request where a container names one, and all where the driver names none', async () => {
    const { objects, driver, claims } = await setUp();
    objects.set('a', claimOf('a', ['web']));
    driver.onPrepare = async ([claim]) => {
      const devices = [
        { ...driver.deviceOf('first', ['big']), shareID: 'share-1' },
        driver.deviceOf('second', ['small']),
        driver.deviceOf('third', []),
      ];
      return new Map([[claim?.uid ?? '', { devices, error: '' }]]);
    };
    const pod = podOf('web', ['a']);
    await claims.prepare(pod, going);
    const ask = async (...requests: (string | undefined)[]) => {
      const user = { name: 'app', resources: { claims: requests.map((request) => ({ name: 'a', request })) } };
      return (await claims.cdiDevicesOf(pod, user as never)).map((id) => id.split('=')[1]);
    };
    expect(await ask('big')).toEqual(['first', 'third']);
    expect(await ask('small', 'big')).toEqual(['first', 'second', 'third']);
    expect(await ask(undefined)).toEqual(['first', 'second', 'third']);
    expect(await ask('other')).toEqual(['third']);
  });

  it('stand for extended resources, where the pod says which requests are its containers’', async () => {
    const { objects, claims } = await setUp();
    objects.set('x', claimOf('x', ['web']));
    const requestMappings = [{ containerName: 'app', resourceName: 'example.com/gpu', requestName: 'all' }];
    const pod = { ...podOf('web', []), status: { extendedResourceClaimStatus: { resourceClaimName: 'x', requestMappings } } };
    await claims.prepare(pod, going);
    const asks = (name: string, amount: string) => ({ name, resources: { requests: { 'example.com/gpu': amount } } });
    expect(await claims.cdiDevicesOf(pod, asks('app', '1') as never)).toEqual(['gpu.example.com/device=x']);
    expect(await claims.cdiDevicesOf(pod, asks('app', '0') as never)).toEqual([]);
    expect(await claims.cdiDevicesOf(pod, asks('other', '1') as never)).toEqual([]);
    await claims.unprepare(pod, going);
    expect(claims.mayHold(pod)).toBe(false);
  });

  it('may be of several drivers, with administrators’ access or without', async () => {
    const { objects, drivers, driver, claims } = await setUp();
    const other = new TestDriver('net.example.com');
    drivers.set(other.name, other);
    const claim = claimOf('a', ['web'], {}, [driver.name, other.name]);
    Object.assign(claim.status.allocation.devices.results[0] ?? {}, { adminAccess: true });
    objects.set('a', claim);
    const pod = podOf('web', ['a']);
    await claims.prepare(pod, going);
    expect(await claims.cdiDevicesOf(pod, container(pod))).toEqual(['gpu.example.com/device=a', 'net.example.com/device=a']);
    other.onUnprepare = async () => new Map([['uid-of-a', 'busy']]);
    await expect(claims.unprepare(pod, going)).rejects.toThrow(
      'unprepare dynamic resources: NodeUnprepareResources failed for ResourceClaim a: busy',
    );
    expect(claims.mayHold(pod)).toBe(true);
    other.onUnprepare = undefined;
    await claims.unprepare(pod, going);
    expect([claims.mayHold(pod), other.ready.size, driver.ready.size]).toEqual([false, 0, 0]);
  });
});

describe('claims that cannot be made ready', () => {
  it.each([
    ['is not there', undefined, 'fetch ResourceClaim a: not found'],
    ['is reserved for others', claimOf('a', ['other']), 'pod web (web) is not allowed to use ResourceClaim a (uid-of-a)'],
    ['is not allocated', { ...claimOf('a', []), status: { reservedFor: [{ uid: 'web' }] } }, 'ResourceClaim a: not allocated'],
    [
      'is of a driver that is not here',
      claimOf('a', ['web'], {}, ['b.example.com']),
      'DRA driver b.example.com is not registered',
    ],
  ])('because one %s: nobody is asked, and nothing is kept', async (_, object, words) => {
    const { objects, driver, claims } = await setUp();
    if (object !== undefined) objects.set('a', object as never);
    objects.set('good', claimOf('good', ['web']));
    const pod = podOf('web', ['good', 'a']);
    await expect(claims.prepare(pod, going)).rejects.toThrow(`prepare dynamic resources: ${words}`);
    await claims.unprepare(pod, going);
    expect([driver.calls, claims.mayHold(pod)]).toEqual([[], false]);
    await expect(claims.cdiDevicesOf(pod, container(pod))).rejects.toThrow('unable to get claim info for ResourceClaim good');
  });

  const answers: [string, (claims: readonly DraClaim[]) => [string, object][], string][] = [
    [
      'for another claim',
      () => [['uid-of-other', {}]],
      'NodePrepareResources returned result for unknown claim UID uid-of-other',
    ],
    ['for one of them only', () => [['uid-of-a', { devices: [], error: '' }]], 'NodePrepareResources skipped 1 ResourceClaims'],
    [
      'with its error',
      ([a, b]) => [
        [a?.uid ?? '', { devices: [], error: 'no firmware' }],
        [b?.uid ?? '', { devices: [], error: '' }],
      ],
      'NodePrepareResources failed for ResourceClaim a: no firmware',
    ],
    [
      'with 100,000 ids',
      (all) =>
        all.map(({ uid }) => [uid, { error: '', devices: [{ requestNames: [], cdiDeviceIDs: Array(100_000).fill('x/y=z') }] }]),
      'the driver answers more than 2048 names of requests and of CDI devices',
    ],
    [
      'with 1,000 devices',
      (all) => all.map(({ uid }) => [uid, { error: '', devices: Array(1000).fill({ requestNames: [], cdiDeviceIDs: [] }) }]),
      'the driver answers 1000 devices, and a claim has at most 256',
    ],
    [
      'with a huge name',
      (all) =>
        all.map(({ uid }) => [uid, { error: '', devices: [{ poolName: 'x'.repeat(5000), requestNames: [], cdiDeviceIDs: [] }] }]),
      'the driver answers a name of 5000 characters',
    ],
    [
      'with names that take too much',
      (all) => {
        const device = { poolName: 'p', deviceName: 'd', requestNames: [], cdiDeviceIDs: Array(100).fill('"'.repeat(1000)) };
        return all.map(({ uid }) => [uid, { error: '', devices: [device] }]);
      },
      'bytes, and this node keeps 262144 of a claim',
    ],
    [
      'with a huge error',
      (all) => all.map(({ uid }) => [uid, { error: 'x'.repeat(100_000), devices: [] }]),
      'for ResourceClaim a: xxx',
    ],
  ];
  it.each(
    answers,
  )('because the driver answers %s: they are given back, and made ready by a later try', async (_, answer, words) => {
    const { objects, driver, claims } = await setUp();
    for (const name of ['a', 'b']) objects.set(name, claimOf(name, ['web']));
    const pod = podOf('web', ['a', 'b']);
    driver.onPrepare = async (asked) => new Map(answer(asked)) as never;
    const error = await claims.prepare(pod, going).catch((each: Error) => each.message);
    expect(error).toContain(words);
    expect(String(error).length).toBeLessThan(5000);
    driver.onPrepare = undefined;
    await claims.prepare(pod, going);
    expect(await claims.cdiDevicesOf(pod, container(pod))).not.toEqual([]);
    await claims.unprepare(pod, going);
    expect([driver.ready.size, claims.mayHold(pod)]).toEqual([0, false]);
  });

  it('because the pod is to end: nobody waits for a driver that hangs, and it gives back only once it has answered', async () => {
    const { objects, driver, claims } = await setUp();
    objects.set('a', claimOf('a', ['web']));
    const answer = Promise.withResolvers<never>();
    driver.onPrepare = () => answer.promise;
    const ending = new AbortController();
    const pod = podOf('web', ['a']);
    const prepared = claims.prepare(pod, ending.signal).catch((error: Error) => error.message);
    await until(() => driver.calls.length === 1);
    ending.abort(new Error('the pod is to end'));
    expect(await prepared).toBe('the pod is to end');
    const unprepared = claims.unprepare(pod, going);
    answer.resolve(new Map([['uid-of-a', { devices: [], error: '' }]]) as never);
    await unprepared;
    expect(driver.calls).toEqual(['prepare a', 'unprepare a']);
  });

  it('because the driver hangs: it is given up after its time, and holds up no claim of another driver', async () => {
    const { objects, drivers, driver, claims, clock } = await setUp();
    const other = new TestDriver('net.example.com');
    drivers.set(other.name, other);
    objects.set('a', claimOf('a', ['web']));
    objects.set('b', claimOf('b', ['second'], {}, [other.name]));
    driver.onPrepare = () => new Promise(() => {});
    const prepared = claims.prepare(podOf('web', ['a']), going).catch((error: Error) => error.message);
    await claims.prepare(podOf('second', ['b']), going);
    await until(() => clock.advance(1000).then(() => clock.pendingTimers === 0));
    expect(await prepared).toBe('prepare dynamic resources: NodePrepareResources: no answer within 50 s');
  });

  it('because a pod names too many', async () => {
    const { claims } = await setUp();
    const names = Array.from({ length: 257 }, (_, n) => `c${n}`);
    await expect(claims.prepare(podOf('web', names), going)).rejects.toThrow('the pod has 257 claims');
  });

  it('because one of its name was made anew while the old one is still in use', async () => {
    const { objects, driver, claims } = await setUp();
    objects.set('a', claimOf('a', ['old']));
    await claims.prepare(podOf('old', ['a']), going);
    objects.set('a', claimOf('a', ['new'], { uid: 'second' }));
    await expect(claims.prepare(podOf('new', ['a']), going)).rejects.toThrow(
      'old ResourceClaim with same name a and different UID uid-of-a still exists (previous pod force-deleted?!)',
    );
    expect(driver.calls).toEqual(['prepare a']);
    // it was refused: what the other one uses is not its to have, or to give back
    const refused = podOf('new', ['a']);
    await expect(claims.cdiDevicesOf(refused, container(refused))).rejects.toThrow(
      'unable to get claim info for ResourceClaim a',
    );
    await claims.unprepare(podOf('new', ['a']), going);
    expect(driver.calls).toEqual(['prepare a']);
  });
});

describe('the file of claims', () => {
  it('has a claim before its driver is asked, and until it is given back', async () => {
    const { objects, driver, claims, path, restarted } = await setUp();
    objects.set('a', claimOf('a', ['web']));
    const seen: string[] = [];
    const look = async () => void seen.push(JSON.parse(await readFile(path, 'utf8')).Data as string);
    driver.onPrepare = async () => {
      await look();
      throw new Error('killed');
    };
    const pod = podOf('web', ['a']);
    await expect(claims.prepare(pod, going)).rejects.toThrow('NodePrepareResources: killed');
    expect(seen[0]).toContain('"ClaimUID":"uid-of-a"');
    // the next process knows of it
    const next = restarted();
    driver.onUnprepare = () => void look() as never;
    await next.claims.unprepare(pod, going);
    expect(driver.calls).toEqual(['prepare a', 'unprepare a']);
    await look();
    expect(seen.at(-1)).toContain('"ClaimInfoStateList":[]');
  });

  it('gives a container its devices after a restart without the driver, and the next pod has it asked again', async () => {
    const { objects, drivers, driver, claims, restarted } = await setUp();
    objects.set('a', claimOf('a', ['one', 'two']));
    const pod = podOf('one', ['a']);
    await claims.prepare(pod, going);
    drivers.clear();
    const next = restarted();
    expect(next.claims.mayHold(pod)).toBe(true);
    expect(await next.claims.cdiDevicesOf(pod, container(pod))).toEqual(['gpu.example.com/device=a']);
    await expect(next.claims.prepare(podOf('two', ['a']), going)).rejects.toThrow('DRA driver gpu.example.com is not registered');
    drivers.set(driver.name, driver);
    await next.claims.prepare(podOf('two', ['a']), going);
    expect(driver.calls).toEqual(['prepare a', 'prepare a']);
    expect(await next.claims.cdiDevicesOf(pod, container(pod))).toEqual(['gpu.example.com/device=a']);
  });
});

describe('claims of pods that are gone', () => {
  it('are given back each minute, but none of a pod that may use them, and none before all pods are known', async () => {
    const { objects, driver, claims, clock, inUse, state } = await setUp();
    for (const name of ['a', 'b']) objects.set(name, claimOf(name, ['one', 'two']));
    await claims.prepare(podOf('one', ['a']), going);
    await claims.prepare(podOf('two', ['b']), going);
    inUse.add('two');
    state.arePodsKnown = false;
    claims.start();
    await clock.advance(60_000);
    expect(driver.calls).toEqual(['prepare a', 'prepare b']);
    state.arePodsKnown = true;
    await clock.advance(60_000);
    await until(() => driver.calls.length > 2);
    expect(driver.calls.slice(2)).toEqual(['unprepare a']);
    await claims.stop();
  });

  it('are tried again by the next look, and a driver that hangs holds up those of no other', async () => {
    const { objects, drivers, driver, claims, clock, logs } = await setUp();
    const other = new TestDriver('net.example.com');
    drivers.set(other.name, other);
    objects.set('a', claimOf('a', ['one']));
    objects.set('b', claimOf('b', ['two'], {}, [other.name]));
    await claims.prepare(podOf('one', ['a']), going);
    await claims.prepare(podOf('two', ['b']), going);
    driver.onUnprepare = () => new Promise(() => {});
    other.onUnprepare = async () => new Map();
    claims.start();
    await clock.advance(60_000);
    await until(() => other.calls.length === 2 && logs.length === 1);
    expect(logs[0]).toContain('Error: NodeUnprepareResources skipped 1 ResourceClaims');
    other.onUnprepare = undefined;
    await until(() => clock.advance(1000).then(() => other.ready.size === 0));
    expect(claims.failing?.message).toBe('NodeUnprepareResources skipped 1 ResourceClaims');
    driver.onUnprepare = undefined;
    await until(() => clock.advance(1000).then(() => driver.ready.size === 0));
    await until(() => clock.advance(1000).then(() => claims.failing === undefined));
    await claims.stop();
  });

  it('stay where the pod comes back between the question and the turn', async () => {
    const { objects, driver, claims, clock, state } = await setUp();
    objects.set('a', claimOf('a', ['one']));
    await claims.prepare(podOf('one', ['a']), going);
    let asked = 0;
    state.mayUse = async () => {
      asked += 1;
      return asked > 1;
    };
    claims.start();
    await clock.advance(60_000);
    await until(() => asked === 2);
    await claims.stop();
    expect(driver.calls).toEqual(['prepare a']);
  });
});
