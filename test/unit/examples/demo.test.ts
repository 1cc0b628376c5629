import { describe, expect, it } from 'vitest';
import { runDemo } from '../../../examples/virtual-node/main.ts';
import { type DemoOptions, parseOptions } from '../../../examples/virtual-node/options.ts';
import type { Screen } from '../../../examples/virtual-node/screen.ts';
import { until } from '../../support/until.ts';
import { plain } from './pictures.ts';

/** A run with a screen of the test: what it prints, what it shows at this moment, and its two Ctrl-C. */
function demo(argv: readonly string[], isTerminal: boolean) {
  const printed: string[] = [];
  let show = (): string => '';
  const screen: Screen = {
    isTerminal,
    paint: plain,
    begin: ({ view, line }) => {
      show = () => (isTerminal ? view(200) : line());
    },
    end() {},
    print: (line) => printed.push(line),
  };
  const [ending, hurrying] = [new AbortController(), new AbortController()];
  const options = parseOptions(argv);
  if (options === 'help') throw new Error('no run');
  const given: DemoOptions = options;
  const ok = runDemo(given, screen, { ending: ending.signal, hurrying: hurrying.signal });
  return { printed, ok, shown: () => show(), end: () => ending.abort(), hurry: () => hurrying.abort() };
}

const url = /^watch it live: (http:\/\/127\.0\.0\.1:\d+\/)$/m;

describe('a run', () => {
  it.each([
    ['a virtual node', []],
    ['a node agent over a container runtime in memory', ['--node']],
    ['a scheduler and 6 virtual nodes in memory', ['--schedule']],
  ])('goes on until Ctrl-C on a terminal, says so with its address, and ends with the summary: %s', async (title, argv) => {
    const { printed, ok, shown, end } = demo([...argv, '--pods', '3', '--seed', '4'], true);
    await until(() => shown().includes(' Running'));
    expect(printed[1]).toBe('it goes on until Ctrl-C');
    const [, address = ''] = url.exec(printed.join('\n')) ?? [];
    expect((await fetch(address)).status).toBe(200);
    expect(shown().split('\n')[0]).toBe(`pod-status-manager  ${title}  in-memory apiserver  seed 4`);
    expect(shown()).toMatch(/^newest +\d\.\d s \w+-\d-\d+ \w+/m);
    expect(shown()).toMatch(/^\d+\.\d s, until Ctrl-C$/m);
    end();
    expect(await ok).toBe(true);
    expect(printed).toContain('differences  0');
    expect(printed.at(-1)).toMatch(/^The server says what the managers say/);
  });

  it('ends after the seconds that are given, on a terminal too', async () => {
    const { printed, ok } = demo(['--pods', '2', '--seconds', '1', '--debug-port', 'off'], true);
    expect(await ok).toBe(true);
    expect(printed.slice(1, 3)).toEqual(['it ends after 1 s', 'there is no debug page: --debug-port is off']);
  });

  it('ends by itself where there is no terminal', async () => {
    const { printed, ok, shown, end } = demo(['--pods', '2'], false);
    await until(() => /\| lives [1-9]/.test(shown()));
    end();
    await ok;
    expect(printed[1]).toBe('it ends after 15 s');
  });

  it('waits for nothing more after the second Ctrl-C', async () => {
    const { printed, ok, shown, end, hurry } = demo(['--node', '--pods', '3'], true);
    await until(() => shown().includes('Running'));
    end();
    hurry();
    expect(await ok).toBe(false);
    expect(printed).toContain('  interrupted before everything had settled');
  });

  it('has a page for each node of a scheduler, and lists them', async () => {
    const { printed, ok, shown, end } = demo(['--schedule', '--pods', '3'], true);
    await until(() => shown().includes('Running'));
    const [, address = ''] = url.exec(printed.join('\n')) ?? [];
    const list = await (await fetch(address)).text();
    expect(list.match(/href="\/node-\w+\/"/g)).toHaveLength(6);
    expect(await (await fetch(`${address}node-b1/`)).text()).toMatch(/^node {7}node-b1 running, registered, ready$/m);
    expect(shown()).toMatch(/^node-b1 +zone-b {2}[█░]{20} \d+\.\d of 8 CPU/m);
    end();
    expect(await ok).toBe(true);
  });
});

describe.concurrent('a run in which things go wrong', () => {
  it.each([
    ['a virtual node', []],
    ['a node agent', ['--node']],
    ['a scheduler', ['--schedule']],
  ])('says of %s what is wrong and what the library says of it, and nothing differs in the end', async (_, argv) => {
    const run = demo([...argv, '--break', '--pods', '12', '--seconds', '3', '--seed', '1'], false);
    await until(() => /^ {6}wrong: \S+: /m.test(run.shown()));
    const [, address = ''] = url.exec(run.printed.join('\n')) ?? [];
    if (argv[0] !== '--schedule') expect(await (await fetch(address)).text()).toMatch(/wrong on purpose: \S+: /);
    await until(() => /^ {6}(?:note|warning): /m.test(run.shown()));
    expect(await run.ok).toBe(true);
    const [, names = ''] = /^went wrong: (.*)$/m.exec(run.printed.join('\n')) ?? [];
    expect(names.split(', ').length).toBeGreaterThanOrEqual(14);
    expect(run.printed).toContain('differences  0');
    expect(run.printed.at(-1)).toMatch(/^The server says what the managers say/);
  });
});
