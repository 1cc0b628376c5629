import { describe, expect, it } from 'vitest';
import { parseOptions, UsageError } from '../../../examples/virtual-node/options.ts';

describe('parseOptions', () => {
  it('defaults to 200 pods on the in-memory apiserver, with no end and nothing that goes wrong', () => {
    const server = { kind: 'in-memory' };
    const expected = {
      kind: 'virtual',
      pods: 200,
      members: 1,
      nodes: 200,
      seconds: undefined,
      seed: 500_000,
      breaks: false,
      server,
      namespace: undefined,
      debugPort: 0,
    };
    expect(parseOptions([], () => 0.5)).toEqual(expected);
  });

  it('has 30 pods for a whole node', () => {
    expect(parseOptions(['--node'])).toMatchObject({ kind: 'node', pods: 30 });
    expect(parseOptions(['--node', '--pods', '5'])).toMatchObject({ kind: 'node', pods: 5 });
  });

  it('has 80 pods for a scheduler', () => {
    expect(parseOptions(['--schedule'])).toMatchObject({ kind: 'schedule', pods: 80 });
  });

  it('has 200 nodes and 400 pods for a fleet, and as many processes as it says', () => {
    expect(parseOptions(['--fleet', '4'])).toMatchObject({ kind: 'fleet', members: 4, nodes: 200, pods: 400 });
    expect(parseOptions(['--fleet=2', '--nodes', '7', '--pods', '9'])).toMatchObject({ members: 2, nodes: 7, pods: 9 });
  });

  it('reads every option', () => {
    const argv = [
      '--pods',
      '7',
      '--seconds=2.5',
      '--seed',
      '9',
      '--kubeconfig',
      'f',
      '--context',
      'c',
      '--namespace',
      'n-1',
      '--debug-port',
      '8080',
    ];
    const server = { kind: 'kubeconfig', file: 'f', context: 'c' };
    expect(parseOptions(argv)).toEqual({
      kind: 'virtual',
      pods: 7,
      members: 1,
      nodes: 200,
      seconds: 2.5,
      seed: 9,
      breaks: false,
      server,
      namespace: 'n-1',
      debugPort: 8080,
    });
    expect(parseOptions(['--debug-port', 'off'])).toMatchObject({ debugPort: undefined });
    expect(parseOptions(['--control-plane'])).toMatchObject({ server: { kind: 'control-plane' } });
    expect(parseOptions(['--node', '--debug-port', '1'])).toMatchObject({ kind: 'node', debugPort: 1 });
  });

  it.each([[[]], [['--control-plane']], [['--node']], [['--schedule']]])('lets things go wrong with %j', (argv) => {
    expect(parseOptions([...argv, '--break'])).toMatchObject({ breaks: true });
  });

  it.each(['--help', '-h'])('asks for help with %s, whatever the other options are', (flag) => {
    expect(parseOptions(['--pods', 'none', flag])).toBe('help');
  });

  it.each([
    [['--pods', '0'], '--pods must be an integer from 1 to 5000, got "0"'],
    [['--pods', '1.5'], '--pods must be an integer from 1 to 5000, got "1.5"'],
    [['--pods='], '--pods must be an integer from 1 to 5000, got ""'],
    [['--pods'], "Option '--pods <value>' argument missing"],
    [['--seed=-1'], '--seed must be an integer from 0 to 4294967295, got "-1"'],
    [['--seed', '-1'], "Option '--seed' argument is missing, or starts with '-': write it as --OPTION=VALUE"],
    [['--seconds', '1e3'], '--seconds must be a number from 1 to 86400, got "1e3"'],
    [['--seconds', '0.5'], '--seconds must be a number from 1 to 86400, got "0.5"'],
    [['--debug-port', '65536'], '--debug-port must be an integer from 0 to 65535, got "65536"'],
    [['--debug-port', 'no'], '--debug-port must be an integer from 0 to 65535, got "no"'],
    [['--context', 'c'], '--context needs --kubeconfig FILE'],
    [['--kubeconfig', ''], '--kubeconfig must be the name of a file, got ""'],
    [['--kubeconfig', 'f', '--control-plane'], '--kubeconfig and --control-plane exclude each other'],
    [['--node', '--kubeconfig', 'f'], '--node and --kubeconfig exclude each other'],
    [['--node', '--control-plane'], '--node and --control-plane exclude each other'],
    [['--node', '--namespace', 'n'], '--node and --namespace exclude each other'],
    [['--break', '--kubeconfig', 'f'], '--break and --kubeconfig exclude each other: a real cluster is not broken on purpose'],
    [['--break=yes'], "Option '--break' does not take an argument"],
    [['--node', '--schedule'], '--node and --schedule exclude each other'],
    [['--schedule', '--kubeconfig', 'f'], '--schedule and --kubeconfig exclude each other'],
    [['--fleet', '2', '--node'], '--fleet and --node exclude each other'],
    [['--fleet', '2', '--schedule'], '--fleet and --schedule exclude each other'],
    [['--fleet', '2', '--break'], '--fleet and --break exclude each other'],
    [['--fleet', '17'], '--fleet must be an integer from 1 to 16, got "17"'],
    [['--fleet', '2', '--nodes', '0'], '--nodes must be an integer from 1 to 2000, got "0"'],
    [['--nodes', '3'], '--nodes needs --fleet N'],
    [['--bogus'], "Unknown option '--bogus'"],
    [['extra'], "Unexpected argument 'extra'"],
  ])('refuses %j and names the rule that it breaks', (argv, message) => {
    expect(() => parseOptions(argv)).toThrow(new UsageError(message));
  });

  it.each(['A', 'a_b', '-a', 'a-', '', 'a'.repeat(64)])('refuses the namespace %j', (name) => {
    expect(() => parseOptions([`--namespace=${name}`])).toThrow('--namespace must be lower case letters, digits');
  });
});
