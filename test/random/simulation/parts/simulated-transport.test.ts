import { describe, expect, it } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../../src/client/resources/resource-client.ts';
import { GuardedTransport } from '../../../../src/client/transport/guarded-transport.ts';
import { Prng } from '../../chaos/prng.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import { fairApiWeather } from './api-weather.ts';
import { SimulatedObjects } from './simulated-objects.ts';
import { SimulatedTransport } from './simulated-transport.ts';

describe('SimulatedTransport', () => {
  it('asks the guard of a request when that leaves the process, and sends nothing that it refuses', async () => {
    const clock = new SimulatedClock();
    const objects = new SimulatedObjects(clock, new Prng(1), fairApiWeather);
    const weather = fairApiWeather;
    const transport = new SimulatedTransport({ clock, objects, weather, prng: new Prng(2), count: () => {} });
    const refusal = new Error('no longer');
    let owned = 10;
    const guarded = new GuardedTransport(transport, () => {
      if (owned-- <= 0) throw refusal;
    });
    const client = new ResourceClient(guarded, resources.configMaps);
    const writes = Array.from({ length: 20 }, (_, i) =>
      client.create({ metadata: { name: `map-${i}`, namespace: 'default' } }).catch((error: unknown) => error),
    );
    expect(owned).toBe(10);
    await clock.runUntil(60_000, () => false);
    const refused = (await Promise.all(writes)).filter((answer) => answer === refusal);
    const { items } = await Promise.all([client.list(), clock.runUntil(120_000, () => false)]).then(([list]) => list);
    expect([refused.length, items.length]).toEqual([10, 10]);
  });
});
