import { describe, expect, it } from 'vitest';
import { RequestLanes } from '../../../../src/kubelet/agent/request-lanes.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

function setUp(qps: number, burst: number) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const transport = {
    request: async ({ path, signal }: { readonly path: string; readonly signal?: AbortSignal | undefined }) => {
      if (signal?.aborted) throw new Error(`${path} was aborted`);
      sent.push(path);
      return {};
    },
    stream: async ({ path }: { readonly path: string }) => void sent.push(path),
  };
  const lanes = new RequestLanes(transport, { qps, burst }, clock);
  return { clock, sent, lanes };
}
const asked = (path: string, signal?: AbortSignal) => ({ method: 'GET', path, signal }) as const;

describe('the requests of an agent', () => {
  it('leave as fast as the limit allows, watches too', async () => {
    const { clock, sent, lanes } = setUp(50, 100);
    const lane = lanes.lane();
    for (let i = 0; i < 5000; i += 1) {
      void (i % 2 === 0
        ? lane.request(asked(`${i}`))
        : lane.stream({ ...asked(`${i}`), idleTimeoutMs: 1000, onChunk: () => {} }));
    }
    await settle();
    expect(sent).toHaveLength(100);
    await clock.advance(10_000);
    expect(sent).toHaveLength(600);
    expect(sent).toEqual(Array.from({ length: 600 }, (_, i) => `${i}`));
  });

  it('never wait for all requests of another lane', async () => {
    const { clock, sent, lanes } = setUp(10, 1);
    const [objects, own, events] = [lanes.lane(), lanes.lane(), lanes.lane()];
    for (let i = 0; i < 1000; i += 1) void objects.request(asked(`object ${i}`));
    for (let i = 0; i < 3; i += 1) void own.request(asked(`own ${i}`));
    void events.request(asked('event'));
    await clock.advance(700);
    expect(sent).toEqual(['object 0', 'object 1', 'own 0', 'event', 'object 2', 'own 1', 'object 3', 'own 2']);
  });

  it('take no turn when they are aborted while they wait, and fail as the transport says', async () => {
    const { clock, sent, lanes } = setUp(10, 1);
    const lane = lanes.lane();
    void lane.request(asked('first'));
    const abort = new AbortController();
    const given = lane.request(asked('given up', abort.signal));
    void lane.request(asked('last'));
    abort.abort();
    await expect(given).rejects.toThrow('given up was aborted');
    await clock.advance(100);
    expect([sent, clock.pendingTimers]).toEqual([['first', 'last'], 0]);
  });

  it('fail where as many wait already as a lane takes, and other lanes take more', async () => {
    const { clock, sent, lanes } = setUp(10, 1);
    const [short, long] = [lanes.lane(2), lanes.lane()];
    for (const path of ['1', '2', '3']) void short.request(asked(path));
    await expect(short.request(asked('4'))).rejects.toMatchObject({
      code: 'ERR_API',
      reason: 'Timeout',
      message: 'GET 4: 2 requests wait for their turn already',
    });
    void long.request(asked('5'));
    await clock.advance(100);
    void short.request(asked('6'));
    await clock.advance(300);
    expect(sent).toEqual(['1', '2', '5', '3', '6']);
  });

  it('go by what has passed, however the clock is set', async () => {
    const { clock, sent, lanes } = setUp(1, 1);
    const lane = lanes.lane();
    for (const path of ['one', 'two', 'three']) void lane.request(asked(path));
    clock.jump(3_600_000);
    await clock.advance(999);
    clock.jump(-7_200_000);
    expect(sent).toEqual(['one']);
    await clock.advance(1001);
    expect(sent).toEqual(['one', 'two', 'three']);
  });

  it('wait no more once the lanes are closed, and no timer is left', async () => {
    const { clock, sent, lanes } = setUp(1, 1);
    const lane = lanes.lane();
    for (const path of ['one', 'two', 'three']) void lane.request(asked(path));
    lanes.close();
    await settle();
    expect([sent.length, clock.pendingTimers]).toEqual([3, 0]);
  });
});
