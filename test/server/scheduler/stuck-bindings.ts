import {
  critical,
  failed,
  notPlaced,
  placedOnceMended,
  type StuckSchedulerRow,
  type StuckSchedulerWorld,
  withPlugin,
} from './stuck-scheduler-world.ts';

/** A pod whose binding the server refuses so. */
async function refusedBinding(world: StuckSchedulerWorld, answer: Parameters<StuckSchedulerWorld['refuse']>[2]): Promise<void> {
  world.refuse('POST', /\/binding$/, answer);
  await world.start();
  await world.places.addNode('n', '2');
  await world.places.addPod('web', '1');
}

async function placedOnceAllowed(world: StuckSchedulerWorld): Promise<void> {
  world.allow();
  await world.places.bound('web');
}

/** A transport to which `answer` is given for requests whose path ends so. */
function answering(world: StuckSchedulerWorld, end: string, answer: () => Promise<never>) {
  const transport = world.transport(world.server.kubeConfig());
  const request = transport.request.bind(transport);
  let isMended = false;
  world.mends(() => {
    isMended = true;
  });
  transport.request = (given) => (given.path.endsWith(end) && !isMended ? answer() : request(given));
  return transport;
}

const silence = (): Promise<never> => new Promise(() => {});

/** Bindings that do not end well. */
export const bindingRows: readonly StuckSchedulerRow[] = [
  {
    id: 'binding-conflict',
    title: 'a binding that conflicts again and again',
    about: 'pod',
    kind: 'conflict',
    words: 'Operation cannot be fulfilled on pods/binding "web"',
    log: { ...notPlaced, fields: { errorClass: 'conflict', plugin: 'DefaultBinder' } },
    event: failed,
    help: 'See who else binds this pod or changes it: let one scheduler alone serve its schedulerName, with a Lease where several run.',
    async arrange(world) {
      const message = 'Operation cannot be fulfilled on pods/binding "web": the object has been modified';
      await refusedBinding(world, { status: 409, reason: 'Conflict', message });
    },
    mend: placedOnceAllowed,
  },
  {
    id: 'node-of-binding-gone',
    title: 'a binding to a node that the server no longer has',
    about: 'pod',
    kind: 'gone',
    words: 'nodes "n" not found',
    log: { ...notPlaced, fields: { errorClass: 'gone' } },
    event: failed,
    help: 'Nothing is to be done where the object was meant to go.',
    async arrange(world) {
      await refusedBinding(world, { status: 404, reason: 'NotFound', message: 'nodes "n" not found' });
    },
  },
  {
    id: 'binding-without-an-answer',
    title: 'a binding that the apiserver does not answer',
    about: 'pod',
    kind: 'slow-binding',
    words: 'has got no answer yet',
    help: 'See whether the apiserver answers: until then nobody knows whether the pod is bound.',
    async arrange(world) {
      await world.start({ transport: answering(world, '/binding', silence) });
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1');
      await world.places.until('it has its node', () => world.scheduler.stats().binding === 1);
      world.clock.skip(11_000);
    },
  },
  {
    id: 'status-without-an-answer',
    title: 'a pod that is to be bound while the write of its condition hangs',
    about: 'pod',
    kind: 'scheduling-failed',
    words: 'the pod was not bound within',
    log: notPlaced,
    event: failed,
    // the event before it may be the one that is found
    eventWords: false,
    help: undefined,
    async arrange(world) {
      await world.start({ transport: answering(world, '/status', silence), bindTimeoutMs: 500 });
      await world.places.addPod('web', '1');
      await world.places.until('it has no node', () => world.scheduler.stats().failedAttempts > 0);
      await world.places.addNode('n', '2');
    },
  },
  {
    id: 'preempted-before-it-was-bound',
    title: 'a pod that had a node, which a more important pod got before it was bound',
    about: 'pod',
    kind: 'preempted',
    words: 'the pod was preempted before it was bound',
    event: failed,
    help: undefined,
    async arrange(world) {
      const permit = ({ name }: { readonly name: string }) => (name === 'web' ? { waitMs: 600_000 } : undefined);
      const profile = withPlugin(world, { name: 'Gang', permit: (_state, { pod }) => permit(pod.metadata as never) });
      await world.start({ ...profile, podInitialBackoffMs: 600_000, podMaxBackoffMs: 600_000 });
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '2');
      await world.places.until('it has its node', () => world.scheduler.stats().binding === 1);
      await world.places.addPod('important', '2', { spec: critical });
    },
  },
  {
    id: 'binding-invalid',
    title: 'a binding that an admission policy of the cluster refuses',
    about: 'pod',
    kind: 'invalid',
    words: "ValidatingAdmissionPolicy 'own-nodes' with binding 'all' denied request",
    log: { ...notPlaced, fields: { errorClass: 'invalid', plugin: 'DefaultBinder' } },
    event: failed,
    help: 'Correct what the message names: the apiserver refuses the object as it is.',
    async arrange(world) {
      const message =
        "pods/binding \"web\" is forbidden: ValidatingAdmissionPolicy 'own-nodes' with binding 'all' denied request: not on this node";
      await refusedBinding(world, { status: 422, reason: 'Invalid', message });
    },
    mend: placedOnceAllowed,
  },
  {
    id: 'client-throws',
    title: "a client of one's own that throws what is no answer of an apiserver",
    about: 'pod',
    kind: 'client-failed',
    words: 'no such table',
    log: { ...notPlaced, fields: { plugin: 'DefaultBinder' } },
    event: failed,
    help: 'See why the client of the scheduler fails: its error is in the log.',
    async arrange(world) {
      await world.start({ transport: answering(world, '/binding', () => Promise.reject(new Error('no such table'))) });
      await world.places.addNode('n', '2');
      await world.places.addPod('web', '1');
    },
    mend: placedOnceMended,
  },
];
