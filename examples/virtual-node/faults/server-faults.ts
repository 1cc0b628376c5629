import type { FaultRule, InMemoryApiServer } from 'pod-status-manager/testing';
import type { Fault, FaultOn, Faults, FaultTurn } from './fault.ts';

type Refused = Omit<FaultRule, 'times' | 'probability' | 'random'>;

const nothing: FaultOn = { wrong: 'nothing: there is no pod', end() {} };

/** What an apiserver, its watches and other users of it can do to any kind of run. */
export const serverFaults: Faults = {
  forbidden: onSome((names) => `the server refuses the statuses of ${names} with 403`, { kind: 'status', code: 403 }),
  conflict: onSome((names) => `the server says of ${names} that somebody else wrote first (409)`, { kind: 'status', code: 409 }),
  invalid: onSome((names) => `the server refuses the statuses of ${names} as invalid (422)`, { kind: 'status', code: 422 }),
  silent: onSome((names) => `the server does not answer what is written of ${names}`, { kind: 'hang' }),
  'not-json': onSome((names) => `the server answers what is written of ${names} with what is no JSON`, { kind: 'garbage' }),
  'server-error': always('the server answers every status with 500', { verb: 'patch', fault: { kind: 'status', code: 500 } }),
  unavailable: always('the server answers everything about pods with 503', { fault: { kind: 'status', code: 503 } }),
  throttled: always('the server has too many requests, and says to come again after a second (429)', {
    verb: 'patch',
    fault: { kind: 'status', code: 429, retryAfterSeconds: 1 },
  }),
  unauthorized: always('the server does not know the credentials (401)', { verb: 'patch', fault: { kind: 'status', code: 401 } }),
  slow: always('the server takes a second for every status', { verb: 'patch', fault: { kind: 'latency', ms: 1000 } }),
  reset: always('the server resets the connection of every status', { verb: 'patch', fault: { kind: 'reset' } }),
  'lost-answer': always('the server takes statuses, and its answers are lost', { verb: 'patch', fault: { kind: 'reset-after' } }),
  'lease-refused': always('the Lease of the node may not be written (403)', {
    ...{ resource: 'leases.coordination.k8s.io', fault: { kind: 'status', code: 403 } },
  }),
  'node-refused': always('the node object may not be written (403)', {
    ...{ resource: 'nodes', verb: 'patch', fault: { kind: 'status', code: 403 } },
  }),
  'watch-ended': always(
    'the watches of pods have ended with 410, and lists take a second',
    { verb: 'list', fault: { kind: 'latency', ms: 1000 } },
    '410',
  ),
  'watch-refused': always('pods may neither be listed nor watched (403)', { fault: { kind: 'status', code: 403 } }, 'reset', [
    'list',
    'watch',
  ]),
  'watch-silent': inMemory(({ parts: { server }, forMs }) => {
    if (server === undefined) return nothing;
    const on = begin(server, 'the watch of pods is silent', { verb: 'watch', fault: { kind: 'latency', ms: forMs } });
    server.dropWatches({ kind: 'end' });
    return on;
  }),
  recreated: inMemory(async ({ parts: { owners }, random, signal }) => {
    const name = await owners.replace(random, signal);
    return { wrong: `${name} was deleted by force, and there is another pod of this name`, end() {} };
  }),
  vanished: inMemory(async ({ parts: { owners }, random, signal }) => {
    const name = await owners.replace(random, signal, false);
    return { wrong: `${name} has vanished from the server`, end() {} };
  }),
  held: inMemory(async ({ parts: { owners }, some: [pod] }) => {
    if (pod === undefined) return nothing;
    const letGo = await owners.hold(pod);
    return { wrong: `${pod.name} is deleted, and a finalizer holds it`, end: letGo };
  }),
};

function inMemory(begin: Fault['begin']): Fault {
  return { kinds: ['virtual', 'node', 'schedule'], needsMemory: true, begin };
}

function begin(server: InMemoryApiServer, wrong: string, ...rules: Refused[]): FaultOn {
  const handles = rules.map((rule) => server.fail({ ...rule, times: Number.POSITIVE_INFINITY }));
  return {
    wrong,
    end() {
      for (const handle of handles) handle.remove();
    },
  };
}

/** Every request that fits goes wrong; with `drop` all watches of pods end at the beginning. */
function always(wrong: string, rule: Refused, drop?: '410' | 'reset', verbs: readonly FaultRule['verb'][] = [rule.verb]): Fault {
  return inMemory(({ parts: { server } }) => {
    if (server === undefined) return nothing;
    const on = begin(server, wrong, ...verbs.map((verb) => ({ ...rule, ...(verb !== undefined && { verb }) })));
    if (drop !== undefined) server.dropWatches({ kind: drop });
    return on;
  });
}

/** What is written of some pods goes wrong. At the end each is touched: a status that was refused as invalid is tried again then. */
function onSome(wrong: (names: string) => string, fault: FaultRule['fault']): Fault {
  return inMemory(({ parts: { server, owners }, some, names }: FaultTurn) => {
    if (server === undefined) return nothing;
    const on = begin(server, wrong(names), ...some.map(({ name }): Refused => ({ verb: 'patch', name, fault })));
    return {
      wrong: on.wrong,
      async end() {
        on.end();
        await Promise.all(some.map((pod) => owners.touch(pod)));
      },
    };
  });
}
