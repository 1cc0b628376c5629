import { PassThrough } from 'node:stream';
import { Exec, KubeConfig, PortForward, type V1Status } from '@kubernetes/client-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../support/until.ts';
import { type StreamsServer, serveStreams, textOf } from './streams-server.ts';

function configOf({ port }: StreamsServer): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'u' });
  return config;
}

/** What a stream gives, as it comes. */
function heard(stream: PassThrough): { text: string } {
  const all = { text: '' };
  stream.on('data', (chunk: Buffer) => {
    all.text += chunk.toString();
  });
  return all;
}

describe('@kubernetes/client-node', () => {
  it('runs a command: input to its end, output, and the exit code', async () => {
    const server = await serveStreams();
    const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const [out, err] = [heard(stdout), heard(stderr)];
    const statuses: V1Status[] = [];
    const told = (status: V1Status): void => void statuses.push(status);
    const socket = await new Exec(configOf(server)).exec('ns', 'web', 'c', ['cat'], stdout, stderr, stdin, false, told);
    onTestFinished(() => socket.terminate());
    expect(socket.protocol).toBe('v5.channel.k8s.io');
    const { streams, end } = await server.session();
    stdin.end('typed');
    const typed = await textOf(streams.stdin);
    streams.stdout?.write(`${typed}, `);
    streams.stdout?.write('x'.repeat(300_000));
    streams.stderr?.end('oh');
    await end({ exitCode: 3 });
    await until(() => statuses.length === 1);
    expect([out.text.length, out.text.slice(0, 9), err.text]).toEqual([300_007, 'typed, xx', 'oh']);
    expect(statuses[0]?.details?.causes).toEqual([{ reason: 'ExitCode', message: '3' }]);
  });

  it('forwards a port', async () => {
    const server = await serveStreams();
    const [output, errors, input] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const [out, err] = [heard(output), heard(errors)];
    const forward = new PortForward(configOf(server));
    const socket = await forward.portForward('ns', 'web', [8080], output, errors, input);
    onTestFinished(() => ('terminate' in socket ? socket.terminate() : undefined));
    const session = await server.forward();
    for await (const { port, stream } of session.connections) {
      expect(port).toBe(8080);
      input.write('question');
      stream.once('data', (chunk: Buffer) => stream.end(`${chunk}: answer`));
    }
    await until(() => out.text === 'question: answer' && session.signal.aborted);
    expect(err.text).toBe('');
  });
});
