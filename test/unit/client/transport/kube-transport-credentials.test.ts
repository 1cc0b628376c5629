import { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { classifyApiError } from '../../../../src/client/resources/error-class.ts';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { identityProvider, idToken } from '../credentials/identity-provider.ts';
import { isRunning, printCredential, type Scratch, scratch, shellPlugin } from '../credentials/shell-plugin.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer, sendJson } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';

const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
const patch: KubeRequest = { method: 'PATCH', path: '/p', body: { status: {} } };
const certificate = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });

/** Lets in a request with the token that `accepted` gives. */
function guarded(accepted: () => string): Script {
  return ({ headers }, response) => {
    const isLetIn = headers.authorization === `Bearer ${accepted()}`;
    sendJson(response, { ok: isLetIn }, { status: isLetIn ? 200 : 401 });
  };
}

/** Gives the token in the file `token`, and notes each run. */
const fromFile = `echo run >> "$1/runs"\ntoken=$(cat "$1/token")\n${printCredential('{"token":"$token"}')}`;
const plugin = (script: string, files: Scratch): { exec: object } => ({ exec: shellPlugin(script, { args: [files.folder] }) });
const hanging = 'echo $$ >> "$1/pid"; sleep 600 & wait';

async function pidOf(files: Scratch): Promise<number> {
  await until(() => files.lines('pid') === 1);
  return Number(files.read('pid'));
}

describe('KubeTransport with an exec plugin', () => {
  it('runs one process for sixteen requests at once, and one more when all of them are refused', async () => {
    using files = scratch();
    let accepted = 'A';
    files.write('token', 'A');
    await using server = await scriptedServer(guarded(() => accepted));
    await using transport = new KubeTransport(kubeConfigFor(server.url, plugin(fromFile, files)));
    const sixteen = (): Promise<unknown>[] => Array.from({ length: 16 }, () => transport.request(patch));
    await Promise.all(sixteen());
    expect(files.lines('runs')).toBe(1);
    accepted = 'B';
    files.write('token', 'B');
    for (const refused of sixteen().map(failureOf)) expect(classifyApiError(await refused)).toBe('unauthorized');
    await Promise.all(sixteen());
    expect(files.lines('runs')).toBe(2);
    expect(server.seen).toHaveLength(48);
  });

  it('has fresh credentials for a watch after a 401, and for the requests beside it', async () => {
    using files = scratch();
    let accepted = 'A';
    files.write('token', 'A');
    await using server = await scriptedServer(guarded(() => accepted));
    await using transport = new KubeTransport(kubeConfigFor(server.url, plugin(fromFile, files)));
    const stream = { ...get, idleTimeoutMs: 60_000, onChunk: () => {} };
    await transport.stream(stream);
    accepted = 'B';
    files.write('token', 'B');
    expect(await failureOf(transport.stream(stream))).toMatchObject({ status: 401 });
    await transport.stream(stream);
    await transport.request(get);
    expect(files.lines('runs')).toBe(2);
  });

  it('ends a plugin that hangs with the last request that waits for it', async () => {
    using files = scratch();
    await using server = await scriptedServer(guarded(() => 'A'));
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url, plugin(hanging, files)), { clock, logger: null });
    const failures = [300, 500].map((timeoutMs) => failureOf(transport.request({ ...patch, timeoutMs })));
    const pid = await pidOf(files);
    await clock.advance(300);
    expect(await failures[0]).toMatchObject({
      reason: 'Timeout',
      message: `PATCH ${server.url}/p: no credentials within 300 ms`,
    });
    expect(isRunning(pid)).toBe(true);
    await clock.advance(200);
    expect(await failures[1]).toMatchObject({
      reason: 'Timeout',
      message: `PATCH ${server.url}/p: no credentials within 500 ms`,
    });
    await until(() => !isRunning(pid));
    expect([server.connections.total, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('runs a plugin anew when the one before hung, however many requests came meanwhile', async () => {
    using files = scratch();
    files.write('token', 'A');
    await using server = await scriptedServer(guarded(() => 'A'));
    const clock = new FakeClock();
    const script = `if [ ! -e "$1/pid" ]; then ${hanging}; fi\n${fromFile}`;
    const kubeConfig = kubeConfigFor(server.url, plugin(script, files));
    await using transport = new KubeTransport(kubeConfig, { clock, requestTimeoutMs: 1000, logger: null });
    const failures = [failureOf(transport.request(patch))];
    await pidOf(files);
    await clock.advance(900);
    failures.push(failureOf(transport.request(patch)));
    await clock.advance(100);
    for (const failure of failures) expect(classifyApiError(await failure)).toBe('timeout');
    expect(await transport.request(patch)).toEqual({ ok: true });
  });

  it('runs no plugin for a request whose signal has aborted already', async () => {
    using files = scratch();
    files.write('token', 'A');
    await using server = await scriptedServer(guarded(() => 'A'));
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (...entry: unknown[]) => warnings.push(entry) };
    await using transport = new KubeTransport(kubeConfigFor(server.url, plugin(fromFile, files)), { logger });
    expect(await failureOf(transport.request({ ...get, signal: AbortSignal.abort() }))).toMatchObject({ reason: 'Aborted' });
    await transport.close();
    expect([files.lines('runs'), warnings]).toEqual([0, []]);
  });

  it('goes on with a plugin when one of its requests is aborted', async () => {
    using files = scratch();
    files.write('token', 'A');
    await using server = await scriptedServer(guarded(() => 'A'));
    const script = `echo $$ > "$1/pid"; until [ -e "$1/go" ]; do [ -d "$1" ] || exit 1; sleep 0.01; done\n${fromFile}`;
    await using transport = new KubeTransport(kubeConfigFor(server.url, plugin(script, files)));
    const stop = new AbortController();
    const aborted = failureOf(transport.request({ ...patch, signal: stop.signal }));
    const other = transport.request(get);
    await pidOf(files);
    stop.abort();
    expect(await aborted).toMatchObject({ reason: 'Aborted' });
    await settle();
    files.write('go', '');
    expect(await other).toEqual({ ok: true });
    expect([files.lines('runs'), server.seen.length]).toEqual([1, 1]);
  });

  it('does not let a stream wait for a plugin longer than a request', async () => {
    using files = scratch();
    await using server = await scriptedServer(guarded(() => 'A'));
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url, plugin(hanging, files)), {
      logger: null,
      clock,
      requestTimeoutMs: 1000,
    });
    const failure = failureOf(transport.stream({ ...get, idleTimeoutMs: 150_000, onChunk: () => {} }));
    const pid = await pidOf(files);
    await clock.advance(1000);
    expect(await failure).toMatchObject({
      reason: 'Timeout',
      message: `GET ${server.url}/api/v1/pods: no credentials within 1000 ms`,
    });
    await until(() => !isRunning(pid));
  });

  it('leaves no process when it is closed, and starts none afterwards', async () => {
    using files = scratch();
    await using server = await scriptedServer(guarded(() => 'A'));
    const transport = new KubeTransport(kubeConfigFor(server.url, plugin(hanging, files)));
    const processesHeld = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length;
    const heldBefore = processesHeld();
    const failures = [failureOf(transport.request(patch)), failureOf(transport.request(get))];
    const pid = await pidOf(files);
    await transport.close();
    expect(isRunning(pid)).toBe(false);
    expect(processesHeld()).toBe(heldBefore);
    failures.push(failureOf(transport.request(get)));
    for (const failure of failures) expect(await failure).toMatchObject({ reason: 'Aborted' });
    expect([files.lines('pid'), server.connections.total]).toEqual([1, 0]);
  });

  it('opens new connections for the new client certificate after a 401', async () => {
    using files = scratch();
    const names = ['one', 'two'].map((commonName) => ({ commonName, ...selfSigned({ commonName }) }));
    const answer = ({ cert, key }: { cert: string; key: string }): string => {
      const status = { clientCertificateData: cert, clientKeyData: key };
      return JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });
    };
    let accepted = 'one';
    const script: Script = ({ socket }, response) => {
      const name = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
      sendJson(response, { name }, { status: name === accepted ? 200 : 401 });
    };
    await using server = await scriptedServer(script, { ...certificate, requestCert: true, rejectUnauthorized: false });
    const kubeConfig = kubeConfigFor(server.url, plugin('cat "$1/answer"', files), { caData: base64(certificate.cert) });
    await using transport = new KubeTransport(kubeConfig);
    files.write('answer', names[0] ? answer(names[0]) : '');
    expect(await transport.request(get)).toEqual({ name: 'one' });
    accepted = 'two';
    files.write('answer', names[1] ? answer(names[1]) : '');
    expect(await failureOf(transport.request(get))).toMatchObject({ status: 401 });
    expect(await transport.request(get)).toEqual({ name: 'two' });
    await until(() => server.connections.open.size === 1);
  });

  it('shows the plugin no other credentials, neither as an argument nor as a variable', async () => {
    using files = scratch();
    const secret = 'a-very-secret-token';
    await using server = await scriptedServer(guarded(() => secret));
    const script = `env > "$1/env"; ps -o args= -p $$ > "$1/args"\n${printCredential('{"token":"other"}')}`;
    const exec = shellPlugin(script, { args: [files.folder], provideClusterInfo: true });
    await using transport = new KubeTransport(kubeConfigFor(server.url, { token: secret, password: secret, exec }));
    await transport.request(get);
    expect(files.read('env')).toContain(new URL(server.url).host);
    expect(files.read('args')).toContain(files.folder);
    expect(files.read('env') + files.read('args')).not.toContain(secret);
  });

  it('keeps what the plugin said out of errors', async () => {
    using files = scratch();
    const secret = 'a-very-secret-token';
    await using server = await scriptedServer(guarded(() => 'A'));
    const exec = shellPlugin(`echo ${secret}; echo ${secret} >&2; exit 1`, {
      args: [secret],
      env: [{ name: 'S', value: secret }],
    });
    await using transport = new KubeTransport(kubeConfigFor(server.url, { exec }));
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({ reason: 'NoCredentials', message: 'The credential plugin "/bin/sh" ended with exit code 1' });
    expect(classifyApiError(error)).toBe('unauthorized');
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(secret);
    expect(server.connections.total).toBe(0);
    expect(files.lines('runs')).toBe(0);
  });
});

describe('KubeTransport with other credentials', () => {
  const tokenFile = (path: string): object => ({ authProvider: { name: 'tokenFile', config: { tokenFile: path } } });

  it('takes a token file that ends in a newline, and its new token with the next request', async () => {
    using files = scratch();
    let accepted = 'A';
    const path = files.write('token', 'A\n');
    await using server = await scriptedServer(guarded(() => accepted));
    await using transport = new KubeTransport(kubeConfigFor(server.url, tokenFile(path)));
    await transport.request(get);
    accepted = 'B';
    expect(await failureOf(transport.request(get))).toMatchObject({ status: 401 });
    files.write('token', 'B\n');
    expect(await transport.request(get)).toEqual({ ok: true });
  });

  it('names an empty token file and sends nothing', async () => {
    using files = scratch();
    const path = files.write('token', '\n');
    await using server = await scriptedServer(guarded(() => ''));
    await using transport = new KubeTransport(kubeConfigFor(server.url, tokenFile(path)));
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({ reason: 'NoCredentials', message: `The token file ${JSON.stringify(path)} is empty` });
    expect(server.connections.total).toBe(0);
  });

  it('renews an id token once when sixteen requests are refused', async () => {
    await using provider = await identityProvider();
    await using server = await scriptedServer(guarded(() => provider.tokenOf(1)));
    const first = idToken({ exp: Math.floor(Date.now() / 1000) + 3600 });
    await using transport = new KubeTransport(kubeConfigFor(server.url, { authProvider: provider.authProvider(first) }));
    const sixteen = (): Promise<unknown>[] => Array.from({ length: 16 }, () => transport.request(patch));
    for (const refused of sixteen().map(failureOf)) expect(await refused).toMatchObject({ status: 401 });
    await Promise.all(sixteen());
    expect(provider.shown).toEqual(['refresh-1']);
  });
});
