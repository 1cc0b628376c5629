import { describe, expect, it } from 'vitest';
import { extendersOption, ignoredResourcesOf } from '../../../../src/scheduler/extenders/extender-options.ts';
import { ClusterScheduler, Scheduler } from '../../../../src/scheduler.ts';

const urlPrefix = 'http://127.0.0.1:1/';
const client = { bind: async () => {} };
const pem = Buffer.from('-----').toString('base64');

describe('the option extenders', () => {
  it.each<[place: string, rule: string, extenders: unknown]>([
    ['extenders', 'a list of extenders, got', {}],
    ['extenders[0]', 'an object', [[]]],
    ['extenders[0].urlprefix', 'absent: the known options are urlPrefix', [{ urlprefix: 'x' }]],
    ['extenders[0].urlPrefix', 'an http or https URL, got "undefined"', [{}]],
    ['extenders[0].urlPrefix', 'an http or https URL, got "ftp:"', [{ urlPrefix: 'ftp://example.com' }]],
    ['extenders[0].urlPrefix', 'a URL whose user and password are percent-encoded', [{ urlPrefix: 'http://a%zz@example.com' }]],
    ['extenders[0].filterVerb', 'text, got 5 (number)', [{ urlPrefix, filterVerb: 5 }]],
    [
      'extenders[0].weight',
      'a whole number from 1 up, because there is a `prioritizeVerb`, got undefined',
      [{ urlPrefix, prioritizeVerb: 'p' }],
    ],
    ['extenders[0].weight', 'a whole number from 1 up', [{ urlPrefix, prioritizeVerb: 'p', weight: 0 }]],
    ['extenders[0].weight', 'a whole number, got 1.5 (number)', [{ urlPrefix, weight: 1.5 }]],
    ['extenders[0].ignorable', 'a boolean, got "yes" (string)', [{ urlPrefix, ignorable: 'yes' }]],
    ['extenders[0].enableHTTPS', 'a boolean', [{ urlPrefix, enableHTTPS: 1 }]],
    ['extenders[0].nodeCacheCapable', 'a boolean', [{ urlPrefix, nodeCacheCapable: 'no' }]],
    [
      'extenders[0].httpTimeout',
      'a time as Go writes it, such as "5s", from 0 up to 24 days, got 5 (number)',
      [{ urlPrefix, httpTimeout: 5 }],
    ],
    ['extenders[0].httpTimeout', 'a time as Go writes it', [{ urlPrefix, httpTimeout: '-1s' }]],
    ['extenders[0].httpTimeout', 'a time as Go writes it', [{ urlPrefix, httpTimeout: '600h' }]],
    ['extenders[0].managedResources', 'a list', [{ urlPrefix, managedResources: {} }]],
    [
      'extenders[0].managedResources[0].name',
      'the name of an extended resource',
      [{ urlPrefix, managedResources: [{ name: 'cpu' }] }],
    ],
    [
      'extenders[0].managedResources[0].name',
      'the name of an extended resource',
      [{ urlPrefix, managedResources: [{ name: 'kubernetes.io/gpu' }] }],
    ],
    ['extenders[0].managedResources[0].name', 'the name', [{ urlPrefix, managedResources: [{ name: 'example.com/' }] }]],
    [
      'extenders[0].managedResources[0].ignoredByScheduler',
      'a boolean',
      [{ urlPrefix, managedResources: [{ name: 'a.b/c', ignoredByScheduler: 1 }] }],
    ],
    [
      'extenders[1].managedResources[0].name',
      'a resource that no extender before has',
      [
        { urlPrefix, managedResources: [{ name: 'a.b/c' }] },
        { urlPrefix, managedResources: [{ name: 'a.b/c' }] },
      ],
    ],
    [
      'extenders',
      'extenders of which at most one has a `bindVerb`, got "2 of them"',
      [
        { urlPrefix, bindVerb: 'b' },
        { urlPrefix, bindVerb: 'b' },
      ],
    ],
    ['extenders[0].tlsConfig.ca', 'absent', [{ urlPrefix, tlsConfig: { ca: 'x' } }]],
    ['extenders[0].tlsConfig.serverName', 'text', [{ urlPrefix, tlsConfig: { serverName: 1 } }]],
    ['extenders[0].tlsConfig.caData', 'text in base64', [{ urlPrefix, tlsConfig: { caData: '-----BEGIN' } }]],
    [
      'extenders[0].tlsConfig.insecure',
      'absent or false beside a CA',
      [{ urlPrefix, tlsConfig: { insecure: true, caData: pem } }],
    ],
    ['extenders[0].tlsConfig', 'with a certificate and its key, or without both', [{ urlPrefix, tlsConfig: { certData: pem } }]],
    ['extenders[0].tlsConfig', 'with a certificate and its key', [{ urlPrefix, tlsConfig: { keyFile: 'key' } }]],
    ['extenders[0].tlsConfig.caFile', 'a file that can be read (ENOENT', [{ urlPrefix, tlsConfig: { caFile: '/no/such/file' } }]],
  ])('refuses %s: not %s', (place, rule, extenders) => {
    const make = (): unknown => new Scheduler({ client, extenders: extenders as never });
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(make).toThrow(`Expected \`${place}\` to be ${rule}`);
  });

  it('shows no key and no address with a password in an error', () => {
    const make = (extender: object): unknown => extendersOption('extenders', [extender]);
    expect(() => make({ urlPrefix: 'ftp://user:secret@example.com' })).toThrow(/^(?!.*secret)/);
    expect(() => make({ urlPrefix, tlsConfig: { keyData: 'a secret!' } })).toThrow(/^(?!.*secret)/);
  });

  it('has defaults, and takes null for an absent member', () => {
    const [plain] = extendersOption('extenders', [
      { urlPrefix, weight: null, httpTimeout: null, tlsConfig: null, managedResources: null },
    ]);
    expect(plain).toMatchObject({
      filterVerb: '',
      bindVerb: '',
      weight: 0,
      timeoutMs: 5000,
      ignorable: false,
      tls: { insecure: false },
    });
    expect(extendersOption('extenders', [{ urlPrefix, httpTimeout: '0s' }])[0]?.timeoutMs).toBe(5000);
    expect(extendersOption('extenders', [{ urlPrefix, httpTimeout: '1m1.5s' }])[0]?.timeoutMs).toBe(61_500);
    expect([undefined, null].map((none) => extendersOption('extenders', none))).toEqual([[], []]);
  });

  it('checks no certificate with enableHTTPS and without a CA, as kube-scheduler', () => {
    const insecure = (more: object): unknown => extendersOption('extenders', [{ urlPrefix, ...more }])[0]?.tls.insecure;
    expect(insecure({ enableHTTPS: true })).toBe(true);
    expect(insecure({ enableHTTPS: true, tlsConfig: { caData: pem } })).toBe(false);
  });

  it('says which resources no plugin is to look at', () => {
    const managedResources = [{ name: 'a.b/c', ignoredByScheduler: true }, { name: 'a.b/d' }];
    expect(ignoredResourcesOf(extendersOption('extenders', [{ urlPrefix, managedResources }]))).toEqual(['a.b/c']);
  });

  it('is one of a scheduler of a cluster, too', () => {
    const make = (): unknown =>
      new ClusterScheduler({ transport: { request: () => {}, stream: () => {} } as never, extenders: [{}] as never });
    expect(make).toThrow('Expected `extenders[0].urlPrefix` to be an http or https URL');
  });
});
