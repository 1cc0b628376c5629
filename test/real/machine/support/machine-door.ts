import { join } from 'node:path';

/** What starts a command inside a machine, or outside in its network. */
export interface DoorCommand {
  readonly program: string;
  readonly args: readonly string[];
}

export interface DoorOptions {
  readonly cwd: string;
  /** Inside, a command has no other variables but those of a login. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The socket of the one connection to the machine, which all commands share. */
export function linkSocket(folder: string): string {
  return join(folder, 'ssh');
}

/** A command inside the machine whose run has this folder. */
export function insideCommand(folder: string, command: readonly string[], { cwd, env = {} }: DoorOptions): DoorCommand {
  const words = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command];
  const line = `cd ${quoted(cwd)} && exec ${words.map(quoted).join(' ')}`;
  return { program: 'ssh', args: [...linkOptions(folder), 'root@machine', line] };
}

/** The options of an ssh that uses the one connection. Where that is lost, ssh would make one by itself: it may not. */
export function linkOptions(folder: string): readonly string[] {
  return ['-q', '-F', 'none', '-S', linkSocket(folder), '-o', 'ControlMaster=no', '-o', 'ProxyCommand=false'];
}

/** A command on this machine, in the network that a process of this id holds. It ends with the process that starts it. */
export function outsideCommand(networkPid: number, command: readonly string[]): DoorCommand {
  return {
    program: 'setpriv',
    args: ['--pdeathsig', 'KILL', 'nsenter', '--target', String(networkPid), '--net', '--', ...command],
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
