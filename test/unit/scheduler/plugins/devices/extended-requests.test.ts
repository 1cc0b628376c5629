import { describe, expect, it } from 'vitest';
import { extendedRequests } from '../../../../../src/scheduler/plugins/devices/extended-requests.ts';
import { barePod } from '../../../../support/pods.ts';

const gpu = 'example.com/gpu';
const net = 'example.com/net';
type Asked = Readonly<Record<string, string>>;

const container = (name: string, requests: Asked, restartPolicy?: string) => ({
  name,
  resources: { requests },
  ...(restartPolicy && { restartPolicy }),
});

/** The requests as `NAME COUNT CLASS`, and the mappings as `CONTAINER RESOURCE REQUEST`. */
function asked(containers: readonly object[], initContainers: readonly object[] = [], classes: Asked = { [gpu]: 'gpus' }) {
  const pod = barePod({ spec: { containers, initContainers } as never });
  const { requests, mappings } = extendedRequests(pod, new Map(Object.entries(classes)));
  return {
    requests: requests.map(({ name, exactly }) => `${name} ${exactly?.count} ${exactly?.deviceClassName}`),
    mappings: mappings.map((one) => `${one.containerName} ${one.resourceName} ${one.requestName}`),
  };
}

describe('the requests for extended resources', () => {
  it('are one for each container and resource, named by their places', () => {
    const containers = [container('a', { cpu: '1', [gpu]: '2' }), container('b', { [net]: '1', [gpu]: '1' })];
    expect(asked(containers, [], { [net]: 'nets', [gpu]: 'gpus' })).toEqual({
      requests: ['container-0-request-1 2 gpus', 'container-1-request-0 1 gpus', 'container-1-request-1 1 nets'],
      mappings: [`a ${gpu} container-0-request-1`, `b ${gpu} container-1-request-0`, `b ${net} container-1-request-1`],
    });
  });

  it.each(['0', '1500m', '0.5'])('leave out what is no count: %s', (quantity) => {
    expect(asked([container('a', { [gpu]: quantity })])).toEqual({ requests: [], mappings: [] });
  });

  it('count thousands as such', () => {
    expect(asked([container('a', { [gpu]: '1k' })]).requests).toEqual(['container-0-request-0 1000 gpus']);
  });

  it('of an init container that ends are for what later containers do not have already', () => {
    const containers = [container('a', { [gpu]: '1' }), container('b', { [gpu]: '1' })];
    expect(asked(containers, [container('i', { [gpu]: '2' })])).toEqual({
      requests: ['container-1-request-0 1 gpus', 'container-2-request-0 1 gpus'],
      mappings: [
        `a ${gpu} container-1-request-0`,
        `b ${gpu} container-2-request-0`,
        `i ${gpu} container-1-request-0`,
        `i ${gpu} container-2-request-0`,
      ],
    });
    expect(asked(containers, [container('i', { [gpu]: '1' })]).mappings.at(-1)).toBe(`i ${gpu} container-1-request-0`);
    expect(asked(containers, [container('i', { [gpu]: '5' })])).toEqual({
      requests: ['container-0-request-0 3 gpus', 'container-1-request-0 1 gpus', 'container-2-request-0 1 gpus'],
      mappings: expect.arrayContaining([`i ${gpu} container-0-request-0`]),
    });
  });

  it('of init containers that end are one, the largest, for all of them', () => {
    const inits = [container('i', { [gpu]: '2' }), container('j', { [gpu]: '3' }), container('k', { [gpu]: '3' })];
    expect(asked([], inits)).toEqual({
      requests: ['container-1-request-0 3 gpus'],
      mappings: ['i', 'j', 'k'].map((name) => `${name} ${gpu} container-1-request-0`),
    });
  });

  it('of an init container that goes on are its own, and for those that end before it', () => {
    const inits = [container('i', { [gpu]: '1' }), container('side', { [gpu]: '1' }, 'Always'), container('j', { [gpu]: '1' })];
    expect(asked([], inits)).toEqual({
      requests: ['container-1-request-0 1 gpus', 'container-2-request-0 1 gpus'],
      mappings: [`side ${gpu} container-1-request-0`, `i ${gpu} container-1-request-0`, `j ${gpu} container-2-request-0`],
    });
  });

  it('are in the order of their names', () => {
    const containers = Array.from({ length: 11 }, (_, index) => container(`c${index}`, { [gpu]: '1' }));
    const names = asked(containers).requests.map((line) => line.split(' ')[0]);
    expect(names.slice(0, 3)).toEqual(['container-0-request-0', 'container-1-request-0', 'container-10-request-0']);
  });

  it('of a hostile pod are too many for any claim, and no more than that is worked out', () => {
    const many = Array.from({ length: 3000 }, (_, index) => container(`c${index}`, { [gpu]: '1' }));
    const { requests, mappings } = asked(many, many);
    expect(requests.length).toBeGreaterThan(32);
    expect(mappings).toHaveLength(3000);
  });

  it('of very many init containers end where no server would keep what is said of them', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => container(`c${index}`, { [gpu]: '30' }));
    const some = Array.from({ length: 30 }, (_, index) => container(`d${index}`, { [gpu]: '1' }));
    const { requests, mappings } = asked(some, many);
    expect(requests).toHaveLength(30);
    expect(mappings.length).toBeGreaterThan(20_000);
    expect(mappings.length).toBeLessThan(20_100);
  });
});
