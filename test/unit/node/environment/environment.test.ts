// After pkg/kubelet/kubelet_pods_test.go TestMakeEnvironmentVariables and pkg/kubelet/envvars, v1.36.3.
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Container } from '../../../../src/api/pod/pod-containers.ts';
import { StatusManagerError } from '../../../../src/base/errors.ts';
import { containerEnvironment, type EnvironmentObjects } from '../../../../src/node/environment/environment.ts';
import { EnvironmentFile } from '../../../../src/node/environment/environment-file.ts';
import { type Service, serviceEnvironment } from '../../../../src/node/environment/service-environment.ts';
import { LargeStart } from '../../../../src/node/environment/start-limits.ts';
import { startTexts } from '../../../../src/node/environment/start-texts.ts';

const pod: Pod = { metadata: { name: 'web', namespace: 'shop', uid: 'u-1' }, spec: { containers: [] } };
const configMaps: Record<string, Record<string, string>> = { settings: { mode: 'fast', level: '7' } };
const secrets: Record<string, Record<string, string>> = {
  login: { user: Buffer.from('me').toString('base64'), key: Buffer.from([0xff, 0x00, 0x41]).toString('base64') },
};
let reads = 0;

function found<T>(table: Record<string, T>, namespace: string, name: string): { data: T } {
  reads += 1;
  const data = namespace === 'shop' ? table[name] : undefined;
  if (data === undefined) throw new StatusManagerError('ERR_NOT_FOUND', 'away');
  return { data };
}
const objects: EnvironmentObjects = {
  getConfigMap: async (namespace, name) => found(configMaps, namespace, name),
  getSecret: async (namespace, name) => found(secrets, namespace, name),
};

async function environmentOf(
  container: Partial<Container>,
  services: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const environment = await containerEnvironment(
    pod,
    { name: 'app', ...container },
    {
      objects,
      services: new Map(Object.entries(services)),
      addresses: { podIPs: ['10.0.0.7'], hostIPs: ['192.168.0.1'] },
      allocatable: { cpu: '4' },
      isTurn: true,
      readVolumeFile: async (volume, path) => `FROM='${volume}:${path}'`,
    },
  );
  return Object.fromEntries(environment);
}

describe('containerEnvironment', () => {
  it('takes values from wherever they come', async () => {
    const env: Container['env'] = [
      { name: 'LITERAL', value: 'x' },
      { name: 'EMPTY' },
      { name: 'FIELD', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
      { name: 'USER', valueFrom: { secretKeyRef: { name: 'login', key: 'user' } } },
      { name: 'FILE', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'FROM' } } },
    ];
    const { USER, ...others } = await environmentOf({ env });
    expect(others).toEqual({ LITERAL: 'x', EMPTY: '', FIELD: '10.0.0.7', CPUS: '4', MODE: 'fast', FILE: 'v:p' });
    expect(Buffer.from(USER as Uint8Array).toString()).toBe('me');
  });

  it('gives the bytes of a secret as they are', async () => {
    const { KEY } = await environmentOf({ env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'login', key: 'key' } } }] });
    expect([...(KEY as Uint8Array)]).toEqual([0xff, 0x00, 0x41]);
  });

  it('takes over whole objects with a prefix, later ones before earlier ones, and own variables before them', async () => {
    reads = 0;
    const env = await environmentOf({
      envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'P_', configMapRef: { name: 'settings' } }],
      env: [{ name: 'mode', value: 'own' }],
    });
    expect(env).toEqual({ mode: 'own', level: '7', P_mode: 'fast', P_level: '7' });
    expect(reads).toBe(1);
  });

  it('expands what stands before, and what tells of services', async () => {
    const env = [
      { name: 'A', value: 'a' },
      { name: 'B', value: '$(A)-$(HOST)-$(C)-$$(A)' },
      { name: 'C', value: 'c' },
      { name: 'HOST', value: 'own-$(HOST)' },
    ];
    expect(await environmentOf({ env }, { HOST: '10.0.0.1', PORT: '80' })).toEqual({
      ...{ A: 'a', B: 'a-10.0.0.1-$(C)-$(A)', C: 'c', HOST: 'own-10.0.0.1', PORT: '80' },
    });
  });

  it('does without what is optional', async () => {
    const env: Container['env'] = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'k', optional: true } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
      { name: 'C', valueFrom: { secretKeyRef: { name: 'none', key: 'k', optional: true } } },
      { name: 'D', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'NONE', optional: true } } },
    ];
    expect(await environmentOf({ env, envFrom: [{ secretRef: { name: 'none', optional: true } }] })).toStrictEqual({});
  });

  it.each<[Partial<Container>, string]>([
    [{ envFrom: [{ configMapRef: { name: 'none' } }] }, 'configmap "none" not found'],
    [{ envFrom: [{ secretRef: { name: 'none' } }] }, 'secret "none" not found'],
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } }] },
      "couldn't find key k in ConfigMap shop/settings",
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'login', key: 'k' } } }] },
      "couldn't find key k in Secret shop/login",
    ],
    [{ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }, 'field label not supported: spec.x'],
    [
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'K' } } }] },
      'environment variable key "K" not found in file "p"',
    ],
  ])('refuses %j', async (container, message) => {
    await expect(environmentOf(container)).rejects.toThrow(message);
  });

  it('passes on why an object could not be read', async () => {
    const failing = {
      ...objects,
      getConfigMap: () => Promise.reject(new StatusManagerError('ERR_SYNC_TIMEOUT', 'it has not come')),
    };
    const container = { name: 'app', envFrom: [{ configMapRef: { name: 'settings', optional: true } }] };
    await expect(containerEnvironment(pod, container, { ...sources, objects: failing })).rejects.toThrow('it has not come');
  });
});

/** A config map that counts how often a value of it is asked for. */
function countedMap(keys: number, value: string): { readonly data: Record<string, string>; readonly taken: () => number } {
  let taken = 0;
  const data = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, value]));
  const counted = new Proxy(data, {
    get: (target, key) => {
      taken += 1;
      return Reflect.get(target, key);
    },
  });
  return { data: counted, taken: () => taken };
}

const sources = {
  objects,
  services: new Map<string, string>(),
  addresses: { podIPs: [], hostIPs: [] },
  allocatable: {},
  isTurn: true,
  readVolumeFile: async () => '',
};

describe('what Linux could not start', () => {
  it('is refused while it is made: a large map under many prefixes', async () => {
    const { data, taken } = countedMap(1000, 'x'.repeat(1000));
    const container = {
      name: 'app',
      envFrom: Array.from({ length: 40 }, (_, index) => ({ prefix: `p${index}_`, configMapRef: { name: 'large' } })),
    };
    const of = { ...sources, objects: { ...objects, getConfigMap: async () => ({ data }) } };
    await expect(containerEnvironment(pod, container, of)).rejects.toThrow('take more than the 6291456 bytes that Linux allows');
    expect(taken()).toBeLessThan(6291);
  });

  it('is refused while it is made: more variables than an agent has room for', async () => {
    const { data, taken } = countedMap(10_000, '');
    const container = {
      name: 'app',
      envFrom: Array.from({ length: 40 }, (_, index) => ({ prefix: `p${index}_`, configMapRef: { name: 'large' } })),
    };
    const of = { ...sources, objects: { ...objects, getConfigMap: async () => ({ data }) } };
    await expect(containerEnvironment(pod, container, of)).rejects.toThrow(
      'container "app" has more than 100000 environment variables',
    );
    expect(taken()).toBe(100_001);
  });

  it('is refused while it is made: variables that name one another', async () => {
    const env = [{ name: 'b0', value: 'a'.repeat(60_000) }];
    for (let index = 1; index < 1000; index += 1) env.push({ name: `b${index}`, value: `$(b${index - 1})z` });
    let asked = 0;
    const services = new Map<string, string>();
    // each variable is followed by one that asks for a service
    const asking = env.flatMap((one, index) => [one, { name: `c${index}`, value: '$(SERVICE)' }]);
    services.get = () => {
      asked += 1;
      return '';
    };
    const making = containerEnvironment(pod, { name: 'app', env: asking }, { ...sources, services });
    await expect(making).rejects.toThrow('take more than the 6291456 bytes that Linux allows');
    expect(asked).toBeLessThan(110);
  });

  it('is refused while it grows: references that multiply fill no memory', async () => {
    const env = [{ name: 'V0', value: 'x'.repeat(1000) }];
    for (let index = 1; index < 40; index += 1) env.push({ name: `V${index}`, value: `$(V${index - 1})`.repeat(10) });
    await expect(environmentOf({ env })).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: 'the environment variable "V3" of container "app" is longer than the 131072 bytes that Linux takes for one',
    });
  });

  it('is refused as one variable, and as all of them together, but a megabyte is not', async () => {
    const bytes = (count: number) => new Map([['A', 'x'.repeat(count)]]);
    expect(() => startTexts({ name: 'app' }, bytes(131_069), true)).not.toThrow();
    expect(() => startTexts({ name: 'app' }, bytes(131_070), true)).toThrow('the environment variable "A" of container "app"');
    const many = (count: number) => new Map(Array.from({ length: count }, (_, index) => [`V${index}`, 'x'.repeat(100_000)]));
    expect(startTexts({ name: 'app' }, many(10), true).envs).toHaveLength(10);
    expect(() => startTexts({ name: 'app' }, many(63), true)).toThrow('take more than the 6291456 bytes that Linux allows');
    const args = [`$(A)`.repeat(2)];
    expect(() => startTexts({ name: 'app', args }, bytes(70_000), true)).toThrow('argument 1 of container "app"');
  });
});

describe('what is large', () => {
  it('is refused while it is not its turn: a long text, many variables, a long argument', async () => {
    const making = (env: Container['env']) => containerEnvironment(pod, { name: 'app', env }, { ...sources, isTurn: false });
    await expect(making([{ name: 'A', value: 'x'.repeat(100_000) }])).resolves.toBeDefined();
    await expect(making([{ name: 'A', value: 'x'.repeat(130_900) }])).resolves.toBeDefined();
    const three = ['A', 'B', 'C'].map((name) => ({ name, value: 'x'.repeat(100_000) }));
    await expect(making(three)).rejects.toThrow(LargeStart);
    await expect(making(Array.from({ length: 3000 }, (_, index) => ({ name: `V${index}` })))).rejects.toThrow(LargeStart);
    const args = ['$(A)', '$(A)', '$(A)', '$(A)'];
    expect(() => startTexts({ name: 'app', args }, new Map([['A', 'x'.repeat(60_000)]]), false)).toThrow(LargeStart);
  });
});

describe('what many variables show', () => {
  it('is made once: a field, a resource, a secret', async () => {
    let read = 0;
    const counting = <T extends object>(value: T): T =>
      new Proxy(value, {
        get: (target, key) => {
          if (key === 'annotations' || key === 'limits' || key === 'key') read += 1;
          return Reflect.get(target, key);
        },
      });
    const shown: Pod = { metadata: counting({ ...pod.metadata, annotations: { a: 'b' } }), spec: { containers: [] } };
    const env: Container['env'] = Array.from({ length: 50 }, (_, index) => [
      { name: `A${index}`, valueFrom: { fieldRef: { fieldPath: 'metadata.annotations' } } },
      { name: `B${index}`, valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    ]).flat();
    const container = { name: 'app', env, resources: counting({ limits: { cpu: '2' } }) };
    const environment = await containerEnvironment(shown, container, sources);
    expect([environment.get('A49'), environment.get('B49')]).toEqual(['a="b"', '2']);
    expect(read).toBeLessThan(10);
  });

  it('is read once: a file, no further than it must be', async () => {
    let read = 0;
    const readVolumeFile = async (): Promise<string> => {
      read += 1;
      return "A='1'\nB='2'\nA='3'\nwrong";
    };
    const of = (key: string, optional = false) => ({ fileKeyRef: { volumeName: 'v', path: 'p', key, optional } });
    const env: Container['env'] = [
      { name: 'X', valueFrom: of('B') },
      { name: 'Y', valueFrom: of('A') },
      { name: 'Z', valueFrom: of('B') },
    ];
    const environment = await containerEnvironment(pod, { name: 'app', env }, { ...sources, readVolumeFile });
    expect(Object.fromEntries(environment)).toEqual({ X: '2', Y: '1', Z: '2' });
    expect(read).toBe(1);
    const more = { name: 'app', env: [...env, { name: 'W', valueFrom: of('C', true) }] };
    await expect(containerEnvironment(pod, more, { ...sources, readVolumeFile })).rejects.toThrow("couldn't parse env file");
  });

  it('is refused where the files come to more than four megabytes', async () => {
    let read = 0;
    const readVolumeFile = async (): Promise<string> => {
      read += 1;
      return `A='${'x'.repeat(1_000_000)}'`;
    };
    const env: Container['env'] = Array.from({ length: 20 }, (_, index) => ({
      name: `V${index}`,
      valueFrom: { fileKeyRef: { volumeName: 'v', path: `p${index}`, key: 'NONE', optional: true } },
    }));
    await expect(containerEnvironment(pod, { name: 'app', env }, { ...sources, readVolumeFile })).rejects.toThrow(
      'the files of variables have more than 4194304 bytes together',
    );
    expect(read).toBe(5);
  });
});

describe('serviceEnvironment', () => {
  const service = (name: string, namespace: string, spec: Service['spec']): Service => ({ metadata: { name, namespace }, spec });
  const services = [
    service('my-db', 'shop', {
      clusterIP: 'fd00::1',
      ports: [
        { name: 'sql-main', port: 5432 },
        { name: 'stats', port: 99, protocol: 'UDP' },
      ],
    }),
    service('kubernetes', 'default', { clusterIP: '10.96.0.1', ports: [{ port: 443 }] }),
    service('headless', 'shop', { clusterIP: 'None', ports: [{ port: 1 }] }),
    service('other', 'elsewhere', { clusterIP: '10.0.0.9', ports: [{ port: 1 }] }),
  ];
  const master = {
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    KUBERNETES_PORT: 'tcp://10.96.0.1:443',
    KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
    KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
    KUBERNETES_PORT_443_TCP_PORT: '443',
    KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
  };

  it('tells of the apiserver and of the services of the pod', () => {
    expect(Object.fromEntries(serviceEnvironment(services, 'shop', true))).toEqual({
      ...master,
      MY_DB_SERVICE_HOST: 'fd00::1',
      MY_DB_SERVICE_PORT: '5432',
      MY_DB_SERVICE_PORT_SQL_MAIN: '5432',
      MY_DB_SERVICE_PORT_STATS: '99',
      MY_DB_PORT: 'tcp://[fd00::1]:5432',
      MY_DB_PORT_5432_TCP: 'tcp://[fd00::1]:5432',
      MY_DB_PORT_5432_TCP_PROTO: 'tcp',
      MY_DB_PORT_5432_TCP_PORT: '5432',
      MY_DB_PORT_5432_TCP_ADDR: 'fd00::1',
      MY_DB_PORT_99_UDP: 'udp://[fd00::1]:99',
      MY_DB_PORT_99_UDP_PROTO: 'udp',
      MY_DB_PORT_99_UDP_PORT: '99',
      MY_DB_PORT_99_UDP_ADDR: 'fd00::1',
    });
  });

  it('tells only of the apiserver where the pod wants no more', () => {
    expect(Object.fromEntries(serviceEnvironment(services, 'shop', false))).toEqual(master);
  });

  it('takes a service of that name in the own namespace before the apiserver', () => {
    const own = service('kubernetes', 'shop', { clusterIP: '10.1.1.1', ports: [{ port: 1 }] });
    for (const list of [
      [own, ...services],
      [...services, own],
    ]) {
      expect(serviceEnvironment(list, 'shop', true).get('KUBERNETES_SERVICE_HOST')).toBe('10.1.1.1');
    }
  });
});

describe('a file of variables', () => {
  const valueIn = (text: string, key: string) => new EnvironmentFile(text, new Set([key])).value(key);
  const text = "# note\n\n A='one' # first\nB='two\nlines'\nC= 'three'\nD=''\nLAST='x'";
  it.each([
    ['A', 'one'],
    ['B', 'two\nlines'],
    ['C', ''],
    ['D', ''],
    ['LAST', 'x'],
    ['NONE', undefined],
  ])('%s is %j', (key, expected) => {
    expect(valueIn(text, key)).toBe(expected);
  });

  it.each([
    ['A', "line 1: missing '='"],
    ["='x'", 'line 1: empty variable name'],
    ["A ='x'", "line 1: whitespace before '=' is not allowed"],
    ['A=x', 'line 1: value must be enclosed in single quotes'],
    ["\nA='x' y", 'line 2: unexpected content after closing quote'],
    ["\nA='x\ny", 'starting at line 2: unclosed single quote'],
  ])('refuses %j', (wrong, message) => {
    expect(() => valueIn(wrong, 'Z')).toThrow(message);
  });
});
