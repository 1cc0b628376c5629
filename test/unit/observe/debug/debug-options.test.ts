import { describe, expect, it } from 'vitest';
import { createDebugHandler, resolveDebugOptions } from '../../../../src/observe/debug/debug-handler.ts';
import { Harness } from '../../status/status-harness.ts';

const { manager } = new Harness({ started: false });

describe('the options of the debug handler', () => {
  it('have defaults', () => {
    expect(resolveDebugOptions({ manager })).toMatchObject({
      node: undefined,
      history: { entriesPerPod: 100, bytes: 33_554_432 },
      allowedHosts: new Set(),
      basePath: '',
    });
  });

  it('are brought into one form', () => {
    const { allowedHosts, basePath } = resolveDebugOptions({ manager, allowedHosts: ['A.example.', 'b'], basePath: '/a/b/' });
    expect([allowedHosts, basePath]).toEqual([new Set(['a.example', 'b']), '/a/b']);
    expect(resolveDebugOptions({ manager, basePath: '/' }).basePath).toBe('');
  });

  it.each<[object, string]>([
    [{ manager: undefined }, 'Expected `manager` to be an object with snapshot, explain, getPodStatus, on, off'],
    [{ manager: {} }, 'Expected `manager` to be an object with snapshot, explain, getPodStatus, on, off'],
    [{ managers: [] }, '`options.managers`'],
    [{ manager: undefined, node: { snapshot: () => {}, explain: () => {} } }, 'Expected `manager` to be an object with snapshot'],
    [{ scheduler: {} }, 'Expected `scheduler` to be an object with snapshot, explain'],
    [{ manager: {}, scheduler: { snapshot: () => {}, explain: () => {} } }, 'Expected `manager` to be an object with snapshot'],
    [{ node: {} }, 'Expected `node` to be an object with snapshot, explain'],
    [{ history: 5 }, 'Expected `history` to be an object'],
    [{ history: { entries: 5 } }, '`history.entries`'],
    [{ history: { entriesPerPod: -1 } }, 'Expected `history.entriesPerPod` to be an integer from 0 up, got -1'],
    [{ history: { bytes: 1.5 } }, 'Expected `history.bytes` to be an integer from 0 up, got 1.5'],
    [{ allowedHosts: 'a' }, 'Expected `allowedHosts` to be a list of host names without a port, got "a" (string)'],
    [{ allowedHosts: ['a:80'] }, 'Expected `allowedHosts` to be a list of host names without a port, got "a:80" (string)'],
    [{ allowedHosts: ['http://a'] }, '`allowedHosts`'],
    [{ allowedHosts: [5] }, '`allowedHosts`'],
    [{ basePath: 'debug' }, 'Expected `basePath` to be a path that begins with a slash, such as "/debug", got "debug" (string)'],
    [{ basePath: '/a?b' }, '`basePath`'],
    [{ clock: {} }, '`clock`'],
    [{ logger: {} }, '`logger`'],
  ])('are checked: %j', (options, message) => {
    expect(() => createDebugHandler({ manager, ...options })).toThrow(message);
    expect(() => createDebugHandler({ manager, ...options })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it('leave the manager alone when one of them is refused', () => {
    expect(() => createDebugHandler({ manager, basePath: 'x' })).toThrow();
    expect(manager.listenerCount('synced')).toBe(0);
  });
});
