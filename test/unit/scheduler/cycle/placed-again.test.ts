import { describe, expect, it } from 'vitest';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { node, pod, schedulerWorld } from '../scheduler-world.ts';

const again = 'a pod has its node, which could not be placed before';
const names = { podUID: 'uid-p1', podNamespace: 'default', podName: 'p1', node: 'n1' };

async function failedBinding() {
  const log = recordedLines();
  const world = schedulerWorld({ logger: log.logger }, true);
  world.scheduler.setNode(node('n1'));
  world.scheduler.setPod(pod('p1'));
  world.scheduler.start();
  await world.clock.advance(0);
  world.bindings[0]?.reject(new Error('no right'));
  await world.clock.advance(5000);
  expect(log.of('warn')).toEqual(['a pod could not be placed']);
  return { ...log, ...world };
}

describe('a pod that could not be placed', () => {
  it('has one line once it is bound, with the failures before it', async () => {
    const { bindings, scheduler, clock, saying } = await failedBinding();
    bindings[1]?.resolve();
    await clock.advance(1000);
    scheduler.setPod(pod('p1', '1', { nodeName: 'n1' }));
    expect(saying(again)).toMatchObject([{ level: 'info', fields: { ...names, attempt: 1 } }]);
    expect((saying(again)[0]?.fields as { failingForMs: number }).failingForMs).toBeGreaterThan(0);
    await scheduler.stop();
  });

  it('has it where the watch tells of the binding before the answer comes, and where another has bound it', async () => {
    const { bindings, scheduler, clock, saying } = await failedBinding();
    scheduler.setPod(pod('p1', '1', { nodeName: 'n1' }));
    expect(saying(again)).toMatchObject([{ fields: names }]);
    bindings[1]?.resolve();
    await clock.advance(1000);
    expect(saying(again)).toHaveLength(1);
    await scheduler.stop();
  });

  it('has none where it only had no room', async () => {
    const { logger, of } = recordedLines();
    const { scheduler, clock } = schedulerWorld({ logger });
    scheduler.setPod(pod('p1'));
    scheduler.start();
    await clock.advance(1000);
    scheduler.setNode(node('n1'));
    await clock.advance(20_000);
    expect(scheduler.explain('uid-p1').state).toBe('placed');
    expect(of('info', 'warn', 'error')).toEqual([]);
    await scheduler.stop();
  });
});
