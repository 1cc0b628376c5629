import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { createDebugHandler } from '../../../../src/observe/debug/debug-handler.ts';
import { page } from '../../../../src/observe/debug/page/page.ts';
import { PodHistory } from '../../../../src/observe/debug/pod-history.ts';
import { serveLocally } from '../../../support/serve-locally.ts';
import { Harness, testPod } from '../../status/status-harness.ts';
import { browser, DebugHarness } from './debug-harness.ts';

const uid = '12345678';
const routes = ['/', '/api/snapshot', '/api/changes', `/api/pods/${uid}`, `/pods/${uid}`];

describe('the debug handler', () => {
  it('gives a browser the page, and curl a table', async () => {
    await using debug = await DebugHarness.start();
    debug.h.manager.setPodStatus(debug.h.publish(testPod()), { phase: 'Running' });
    const html = await debug.ask('/', { headers: browser });
    expect([html.status, html.headers['content-type'], html.body]).toEqual([200, 'text/html; charset=utf-8', page]);
    const text = await debug.ask('/', { headers: { accept: '*/*' } });
    expect([text.status, text.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text.body).toMatch(/^new {8}foo {3}Running /m);
    expect(text.headers.vary).toBe('accept');
  });

  it('lets the page run its own scripts and styles, and nothing else', async () => {
    await using debug = await DebugHarness.start();
    const { headers } = await debug.ask('/', { headers: browser });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const elements = [...page.matchAll(/<(script|style)(\s[^>]*)?>([\s\S]*?)<\/\1>/g)];
    // plain text in a script element does not run
    for (const [, element, , text = ''] of elements.filter(([, , attributes = '']) => !attributes.includes('text/plain'))) {
      const digest = createHash('sha256').update(text).digest('base64');
      expect(policy.split('; ').find((part) => part.startsWith(`${element}-src`))).toContain(`'sha256-${digest}'`);
    }
  });

  it('does not send the page again to a browser that has it', async () => {
    await using debug = await DebugHarness.start();
    const { headers } = await debug.ask('/', { headers: browser });
    const etag = String(headers.etag);
    const again = await debug.ask('/', { headers: { ...browser, 'if-none-match': `"other" ,  W/${etag} ` } });
    expect([again.status, again.body, again.headers.etag]).toEqual([304, '', etag]);
    expect((await debug.ask('/', { headers: { ...browser, 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('sends a browser that asks for a pod to the page', async () => {
    await using debug = await DebugHarness.start();
    const { status, headers } = await debug.ask('/pods/a%2Fb', { headers: browser });
    expect([status, headers.location]).toEqual([302, '../#pod=a%2Fb']);
  });

  it.each(routes)('answers HEAD of %s with the head alone', async (path) => {
    await using debug = await DebugHarness.start();
    debug.h.manager.setPodStatus(debug.h.publish(testPod()), { phase: 'Running' });
    const { status, headers, body } = await debug.ask(path, { method: 'HEAD' });
    expect([status, body]).toEqual([200, '']);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-store');
    expect(debug.h.clock.pendingTimers).toBe(1);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('changes nothing: %s is refused', async (method) => {
    await using debug = await DebugHarness.start();
    for (const path of routes) {
      const { status, headers } = await debug.ask(path, { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  it.each([
    '/other',
    '/api',
    '/api/pods/',
    '/api/pods/a/b',
    '/pods/%E0%A4%A',
    '/api/snapshot/',
    '//evil.example/api/snapshot',
  ])('has nothing at %s', async (path) => {
    await using debug = await DebugHarness.start();
    expect((await debug.ask(path)).status).toBe(404);
  });

  it('knows nothing of a pod that it never saw', async () => {
    await using debug = await DebugHarness.start();
    expect((await debug.ask('/api/pods/nobody')).status).toBe(404);
    expect((await debug.ask('/pods/nobody')).status).toBe(404);
  });
});

describe('a debug handler under a path', () => {
  it('takes the whole URL, and one that the server has cut', async () => {
    await using debug = await DebugHarness.start({ basePath: '/debug/' });
    for (const path of ['/debug', '/debug/', '/debug?filter=a', '/debug/api/snapshot', '/api/snapshot', '/']) {
      expect([path, (await debug.ask(path)).status]).toEqual([path, 200]);
    }
    expect((await debug.ask('/debugger/api/snapshot')).status).toBe(404);
  });
});

describe('the table for a client without HTML', () => {
  it('is refused for a filter that takes too long', async () => {
    await using debug = await DebugHarness.start();
    const filter = Array.from({ length: 21 }, (_, n) => `v${n}`).join('+');
    expect(await debug.ask(`/?filter=${filter}`)).toMatchObject({
      status: 400,
      body: expect.stringContaining('at most 20 words'),
    });
  });
});

describe('who may ask', () => {
  it.each([
    'localhost',
    'LOCALHOST:8080',
    'app.localhost:1',
    '127.0.0.1:8080',
    '10.1.2.3',
    '[::1]:8080',
    '[fe80::1]',
  ])('a client that says %s', async (host) => {
    await using debug = await DebugHarness.start();
    expect((await debug.ask('/api/snapshot', { headers: { host } })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'a b',
    'evil@127.0.0.1',
    '[x]',
  ])('not one that says %s', async (host) => {
    await using debug = await DebugHarness.start();
    for (const path of [...routes, '/other']) {
      const { status, body } = await debug.ask(path, { headers: { host } });
      expect([path, status]).toEqual([path, 403]);
      expect(body).toContain('allowedHosts');
    }
  });

  it('also one that says an allowed name, whatever the case and the port', async () => {
    await using debug = await DebugHarness.start({ allowedHosts: ['Node-1.example'] });
    expect((await debug.ask('/', { headers: { host: 'node-1.EXAMPLE:8080' } })).status).toBe(200);
    expect((await debug.ask('/', { headers: { host: 'node-1.example.' } })).status).toBe(200);
    expect((await debug.ask('/', { headers: { host: 'x.node-1.example' } })).status).toBe(403);
  });

  it('not the page of another site, unless somebody follows a link', async () => {
    await using debug = await DebugHarness.start();
    for (const site of ['cross-site', 'same-site']) {
      const background = { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' };
      expect((await debug.ask('/api/changes', { headers: background })).status).toBe(403);
      expect((await debug.ask('/', { headers: { ...browser, ...background, 'sec-fetch-mode': 'navigate' } })).status).toBe(200);
    }
    expect((await debug.ask('/', { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' } })).status).toBe(200);
  });
});

describe('a debug handler that is closed', () => {
  it('answers nothing, listens to nothing, and may be closed again', async () => {
    await using debug = await DebugHarness.start();
    const events = ['podUpdated', 'podRemoved', 'synced', 'syncError', 'illegalTransition', 'request'] as const;
    expect(events.map((event) => debug.h.manager.listenerCount(event))).toEqual([1, 1, 1, 1, 1, 1]);
    debug.handler.close();
    debug.handler.close();
    expect(events.map((event) => debug.h.manager.listenerCount(event))).toEqual([0, 0, 0, 0, 0, 0]);
    for (const path of routes) expect((await debug.ask(path)).status).toBe(503);
  });
});

describe('the history of a debug handler that is closed', () => {
  it('is dropped', () => {
    const { manager, clock } = new Harness({ started: false });
    const cleared = vi.spyOn(PodHistory.prototype, 'clear');
    const handler = createDebugHandler({ manager, clock });
    handler.close();
    expect(cleared).toHaveBeenCalledTimes(1);
    cleared.mockRestore();
  });
});

describe('a debug handler whose parts fail', () => {
  it('answers 500 without a word of why, and logs it', async () => {
    const logged: unknown[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: nothing, error: (fields: object) => void logged.push(fields) };
    const { manager } = new Harness({ started: false });
    manager.snapshot = () => {
      throw new Error('secret detail');
    };
    await using debug = await DebugHarness.start({ manager, logger });
    const { status, body } = await debug.ask('/api/snapshot');
    expect(status).toBe(500);
    expect(body).not.toContain('secret detail');
    expect(logged).toMatchObject([{ err: { message: 'secret detail' } }]);
    expect((await debug.ask('/other')).status).toBe(404);
  });
});

describe('a debug handler that is the listener of a server', () => {
  it('needs nothing else', async () => {
    const { manager, clock } = new Harness({ started: false });
    const handler = createDebugHandler({ manager, clock });
    await using server = await serveLocally(handler);
    const answer = await fetch(server.url);
    expect([answer.status, clock.pendingTimers]).toEqual([200, 0]);
    handler.close();
  });
});
