import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimCheckpointText, readClaimCheckpoint } from '../../../../src/kubelet/dra/claim-checkpoint.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { claimOf, going, podOf, setUp } from './dra-world.ts';

const claim = {
  uid: '067798be-454e-4be4-9047-1aa06aea63f7',
  name: 'example',
  namespace: 'default',
  podUIDs: new Set(['139cdb46-f989-4f17-9561-ca10cfb509a6']),
  drivers: new Map([
    [
      'test-driver.cdi.k8s.io',
      [
        {
          poolName: 'worker-1',
          deviceName: 'dev-1',
          shareID: 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa',
          requestNames: ['test request'],
          cdiDeviceIDs: ['example.com/example=cdi-example'],
        },
      ],
    ],
  ]),
};
/** Of these contents, by the tests of the kubelet v1.36.3 (pkg/kubelet/cm/dra/state/checkpointer_test.go). */
const kubeletsChecksum = 736302156;

async function fileWith(text: string): Promise<string> {
  const path = join(await tempDir(), 'dra_manager_state');
  await writeFile(path, text);
  return path;
}

describe('the checkpoint of claims', () => {
  it('is, byte for byte and with its checksum, what a kubelet writes, and is read again', async () => {
    const path = join(await tempDir(), 'dra_manager_state');
    await writeFile(path, claimCheckpointText([claim]));
    expect(JSON.parse(await readFile(path, 'utf8')).Checksum).toBe(kubeletsChecksum);
    expect(await readClaimCheckpoint(path)).toEqual([claim]);
  });

  it('may have the empty lists of Go, and may not be there', async () => {
    const path = join(await tempDir(), 'dra_manager_state');
    expect(await readClaimCheckpoint(path)).toEqual([]);
    const bare = {
      ...claim,
      drivers: new Map([['a', [{ poolName: 'p', deviceName: 'd', requestNames: [], cdiDeviceIDs: [] }]]]),
    };
    const data =
      '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":[{"ClaimUID":"u","ClaimName":"n","Namespace":"s",' +
      '"PodUIDs":{},"DriverState":{"a":{"Devices":null},"b":{"Devices":[{"PoolName":"p","DeviceName":"d","ShareID":null,"RequestNames":null,"CDIDeviceIDs":null}]}}}]}';
    const { crc32 } = await import('node:zlib');
    const [read] = await readClaimCheckpoint(await fileWith(JSON.stringify({ Data: data, Checksum: crc32(data) })));
    expect(read?.drivers).toEqual(
      new Map<string, unknown>([
        ['a', []],
        ['b', bare.drivers.get('a')],
      ]),
    );
    await writeFile(path, claimCheckpointText([bare]));
    expect(await readClaimCheckpoint(path)).toEqual([bare]);
  });

  it.each([
    ['', 'Unexpected end of JSON input'],
    ['[]', 'the checkpoint is no object'],
    ['{"Data":"{}","Checksum":1}', 'the checksum is another one'],
    ['{"Data":7,"Checksum":1}', 'it has no data'],
  ])('that is broken is not read: %s', async (text, words) => {
    await expect(readClaimCheckpoint(await fileWith(text))).rejects.toThrow(words);
  });

  it('that is broken keeps pods with claims from their start and their end, until it is mended', async () => {
    const { path, objects, driver, claims, kept, clock, logs, restarted } = await setUp();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '{"Data":"');
    objects.set('a', claimOf('a', ['web']));
    const pod = podOf('web', ['a']);
    await expect(claims.prepare(pod, going)).rejects.toThrow('is no checkpoint of resource claims that is whole');
    await expect(claims.unprepare(pod, going)).rejects.toThrow('is no checkpoint of resource claims that is whole');
    expect([claims.mayHold(pod), claims.mayHold(podOf('plain', []))]).toEqual([true, false]);
    await claims.unprepare(podOf('plain', []), going);
    claims.start();
    await clock.advance(120_000);
    await claims.stop();
    expect([driver.calls, kept.failing?.attempt, logs.length]).toEqual([[], expect.any(Number), 1]);
    await writeFile(path, claimCheckpointText([]));
    const next = restarted();
    await next.claims.prepare(pod, going);
    expect([driver.calls, next.kept.failing]).toEqual([['prepare a'], undefined]);
  });

  it('that cannot be written: no driver is asked, and the pod does not end before it is', async () => {
    const { path, objects, driver, claims, kept } = await setUp();
    objects.set('a', claimOf('a', ['web']));
    const pod = podOf('web', ['a']);
    await kept.open();
    // a folder is in the place of the file
    await mkdir(join(path, 'full'), { recursive: true });
    await expect(claims.prepare(pod, going)).rejects.toThrow('prepare dynamic resources: checkpoint ResourceClaim cache: ');
    expect([driver.calls, claims.mayHold(pod)]).toEqual([[], false]);
    await expect(claims.unprepare(pod, going)).rejects.toThrow('unprepare dynamic resources: checkpoint ResourceClaim state: ');
  });
});
