import { describe, expect, it } from 'vitest';
import { containerPort, probeTarget } from '../../../../src/node/probes/network-prober.ts';
import type { ContainerProbe } from '../../../../src/node/probes/probe-types.ts';
import { goSeconds, withStaticVariables } from '../../../../src/node/probes/prober.ts';
import { podOf } from './probe-world.ts';

const container = { name: 'a', ports: [{ name: 'web', containerPort: 8080 }], env: [{ name: 'FILE', value: '/ok' }] };
const pod = podOf(container);
const subject = { podUID: 'u1', podName: 'p', namespace: 'd', containerName: 'a', containerID: 'x://a0', timeoutSeconds: 1 };

function aim(probe: ContainerProbe, podIP: string | undefined = '10.0.0.1') {
  return probeTarget({ pod, container, probe, containerID: 'x://a0', podIP });
}

describe('what a probe is aimed at', () => {
  it.each<[ContainerProbe, string, object]>([
    [{ exec: { command: ['cat', '$(FILE)'] }, timeoutSeconds: 3 }, 'exec', { command: ['cat', '/ok'], timeoutSeconds: 3 }],
    [{ httpGet: { port: 'web' } }, 'http', { scheme: 'http', host: '10.0.0.1', port: 8080, path: '', headers: [] }],
    [
      { httpGet: { port: 443, scheme: 'HTTPS', host: 'shop', path: '/x', httpHeaders: [{ name: 'A', value: 'b' }] } },
      'http',
      { scheme: 'https', host: 'shop', port: 443, path: '/x', headers: [{ name: 'A', value: 'b' }] },
    ],
    [{ tcpSocket: { port: '81' } }, 'tcp', { host: '10.0.0.1', port: 81 }],
    [{ tcpSocket: { port: 81, host: 'shop' } }, 'tcp', { host: 'shop', port: 81 }],
    [{ grpc: { port: 82 } }, 'grpc', { host: '10.0.0.1', port: 82, service: '' }],
    [{ grpc: { port: 82, service: 'shop' } }, 'grpc', { host: '10.0.0.1', port: 82, service: 'shop' }],
    [{ exec: { command: [] }, httpGet: { port: 1 } }, 'exec', { command: [] }],
  ])('%j', (probe, method, target) => {
    expect(aim(probe)).toEqual({ method, target: { ...subject, ...target } });
  });

  it.each<[ContainerProbe, string]>([
    [{}, 'missing probe handler for p_d(u1):a'],
    [{ httpGet: { port: 'no' } }, 'strconv.Atoi: parsing "no": invalid syntax'],
    [{ tcpSocket: { port: 70_000 } }, 'invalid port number: 70000'],
  ])('is nothing for %j', (probe, message) => {
    expect(() => aim(probe)).toThrow(message);
  });

  it.each<[ContainerProbe]>([
    [{ httpGet: { port: 1 } }],
    [{ tcpSocket: { port: 1 } }],
    [{ grpc: { port: 1 } }],
  ])('is never this node, where the pod has no address: %j', (probe) => {
    for (const podIP of ['', undefined]) {
      expect(() => probeTarget({ pod, container, probe, containerID: 'x://a0', podIP })).toThrow('the pod has no IP address');
    }
  });
});

describe('a port', () => {
  // as pkg/probe of v1.36.3 answered when it was asked
  it.each([
    ['+80', 80],
    ['web', 8080],
    ['-1', 'invalid port number: -1'],
    ['0', 'invalid port number: 0'],
    ['70000', 'invalid port number: 70000'],
    ['99999999999999999999', 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
    ['', 'strconv.Atoi: parsing "": invalid syntax'],
    ['8 0', 'strconv.Atoi: parsing "8 0": invalid syntax'],
    [1.5, 'invalid port number: 1.5'],
  ])('%j is %j', (port, expected) => {
    if (typeof expected === 'number') expect(containerPort(port, container)).toBe(expected);
    else expect(() => containerPort(port, container)).toThrow(expected);
  });
});

describe('a command', () => {
  it.each([
    ['$(A)', 'one'],
    ['$$(A)', '$(A)'],
    ['$(B)', ''],
    ['$(C)', '$(C)'],
    ['x$(A)y$(A)$', 'xoneyone$'],
    ['$(A', '$(A'],
    ['$A', '$A'],
    ['$(A $(A)', '$(A $(A)'],
  ])('with %s becomes %s', (part, expected) => {
    const env = [
      { name: 'A', value: 'one' },
      { name: 'B', valueFrom: {} },
    ];
    expect(withStaticVariables([part], env)).toEqual([expected]);
  });
});

describe('goSeconds', () => {
  it.each([
    [1, '1s'],
    [1.5, '1.5s'],
    [60, '1m0s'],
    [90, '1m30s'],
    [3600, '1h0m0s'],
    [3661, '1h1m1s'],
  ])('%d is %s', (seconds, text) => {
    expect(goSeconds(seconds)).toBe(text);
  });
});

describe('the request of a probe', () => {
  const headers = Array.from({ length: 3 }, () => ({ name: 'A', value: 'x'.repeat(50_000) }));
  it.each<[string, ContainerProbe]>([
    ['path', { httpGet: { port: 80, path: `/${'x'.repeat(131_072)}` } }],
    ['headers', { httpGet: { port: 80, httpHeaders: headers } }],
    ['service', { grpc: { port: 80, service: 'x'.repeat(131_073) } }],
  ])('is refused for a long %s', (_, probe) => {
    expect(() => aim(probe)).toThrow('the request of the probe has more than 131072 bytes');
  });
});

describe('the command of a probe', () => {
  const env = [{ name: 'A', value: 'a'.repeat(100_000) }];

  it('is refused where its variables make it too long, before it is made', () => {
    expect(() => aim({ exec: { command: ['true', '$(A)'] } }, undefined)).not.toThrow();
    const made = (command: string[]) => withStaticVariables(command, env);
    expect(made(['$(A)', 'x'])).toEqual([env[0]?.value, 'x']);
    const message = 'the command of the probe has more than 131072 bytes once its variables are replaced';
    expect(() => made(['$(A)'.repeat(3000)])).toThrow(message);
    expect(() => made(['$(A)', '$(A)'])).toThrow(message);
    expect(() => made(['$('.repeat(200_000)])).toThrow(message);
  });

  it("is the spec's own text where nothing is replaced", () => {
    const long = 'x'.repeat(500_000);
    expect(withStaticVariables([long], env)).toEqual([long]);
  });
});
