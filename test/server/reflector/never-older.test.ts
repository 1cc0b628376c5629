import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { type ConfigMap, ReflectedConfigMaps } from './reflector-fixture.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe.each([
  ['latest', true],
  ['latest', false],
  ['cache', true],
  ['cache', false],
] as const)('a reflector that lists from the %s (streamed lists: %s)', (listFrom, streamLists) => {
  it('never shows an older version, and ends with what the server has, however its watches break', async () => {
    const namespace = await server.admin.createNamespace('older');
    const wentBack: string[] = [];
    const last = new Map<string, number>();
    const note = ({ metadata }: ConfigMap): void => {
      const [name, version] = [metadata?.name ?? '', Number(metadata?.resourceVersion)];
      if (version < (last.get(name) ?? 0)) wentBack.push(`${name}: ${last.get(name)} -> ${version}`);
      last.set(name, version);
    };
    await using maps = new ReflectedConfigMaps(server, namespace, {
      listFrom,
      streamLists,
      // no pauses worth waiting for
      random: () => 0,
      handlers: { added: note, updated: note, deleted: note },
    });
    await maps.reflector.start();
    for (let round = 0; round < 60; round += 1) {
      const name = `map-${round % 5}`;
      if (round < 5) await maps.create(name, { v: '0' });
      else if (round % 13 === 0) await maps.remove(name).then(() => maps.create(name, { v: `${round}` }));
      else await maps.change(name, { v: `${round}` });
      if (round % 7 === 3) maps.transport.expireWatches();
      if (round % 7 === 5) maps.transport.cutWatches();
    }
    const served = await maps.served();
    const held = (): Map<string, ConfigMap> => new Map(maps.reflector.store.list().map((one) => [one.metadata?.name ?? '', one]));
    await expect.poll(held, { timeout: 20_000 }).toEqual(served);
    expect(wentBack).toEqual([]);
  });
});
