import { type Asked, all } from '../../unit/scheduler/extenders/extender-world.ts';
import {
  failed,
  notPlaced,
  placedOnceMended,
  type StuckSchedulerRow,
  type StuckSchedulerWorld,
} from './stuck-scheduler-world.ts';

/** A scheduler with an extender that answers nonsense until the row is mended, and a node. */
async function withBroken(world: StuckSchedulerWorld, ignorable: boolean): Promise<void> {
  let works = false;
  const filter = (asked: Asked): unknown => (works ? all(asked) : 'nonsense');
  world.mends(() => {
    works = true;
  });
  const { options } = await world.extender({ filter }, { ignorable });
  await world.start({ extenders: [options] });
  await world.places.addNode('n', '4');
}

/** Programs behind HTTP that have a say in where pods go, and do not do what they should. */
export const extenderRows: readonly StuckSchedulerRow[] = [
  {
    id: 'extender-hangs',
    title: 'an extender that does not answer',
    about: 'pod',
    kind: 'waits-for-extender',
    words: 'was asked to filter nodes for the pod and has not answered yet',
    help: 'See why the extender EXTENDER is slow: it has 60 s for its answer, and no other pod is tried meanwhile.',
    async arrange(world) {
      const answer = Promise.withResolvers<object>();
      const { server, options } = await world.extender({ filter: () => answer.promise }, { httpTimeout: '60s' });
      await world.start({ extenders: [options] });
      await world.places.addNode('n', '4');
      await world.places.addPod('web', '1');
      await world.places.until('the extender is asked', () => server.asked.length > 0);
      world.mends(() => answer.resolve({ NodeNames: server.asked[0]?.nodes }));
      world.clock.skip(2000);
    },
    mend: placedOnceMended,
  },
  {
    id: 'extender-fails',
    title: 'an extender that answers what it must not',
    about: 'pod',
    kind: 'extender-failed',
    words: 'its answer is no JSON',
    log: notPlaced,
    event: failed,
    help: 'See whether the extender EXTENDER runs and answers: it is asked again at the next attempt. One that is `ignorable` holds up no pod.',
    async arrange(world) {
      await withBroken(world, false);
      await world.places.addPod('web', '1');
    },
    mend: placedOnceMended,
  },
  {
    id: 'extender-passed-over',
    title: 'an `ignorable` extender that fails: pods are placed without its say',
    about: 'scheduler',
    kind: 'extender-passed-over',
    words: 'its answer is no JSON',
    log: { message: 'an extender failed and is passed over' },
    help: 'See whether the extender EXTENDER runs and answers: until then it has no say in what it fails at.',
    async arrange(world) {
      await withBroken(world, true);
      await world.places.addPod('one', '1');
      await world.places.bound('one');
    },
    async mend(world) {
      world.mend();
      await world.places.addPod('two', '1');
      await world.places.bound('two');
    },
  },
];
