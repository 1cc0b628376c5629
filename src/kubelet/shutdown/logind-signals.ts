// Behaviour of pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go, v1.36.3.

import { join } from 'node:path';
import { membersOf } from '../../api/json/json.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { requireKnownOptions } from '../../base/options.ts';
import { ProgramFailure, runProgram } from '../../base/run-program.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { replaceFile } from '../../node/files/replace-file.ts';
import type { MachineShutdown, ShutdownHandle, ShutdownSignals } from './shutdown-signals.ts';
import { startProgram } from './watched-program.ts';

/** Where systemd-logind is set up, and which programs talk to it. */
export interface LogindSignalsOptions {
  /** The folder of the files that set systemd-logind up. Default `/etc/systemd/logind.conf.d`. */
  readonly configFolder?: string;
  /** The program that talks over D-Bus. Default `busctl`, of systemd. */
  readonly busctl?: string;
  /** The program that delays a shutdown. Default `systemd-inhibit`, of systemd. */
  readonly systemdInhibit?: string;
}

const service = 'org.freedesktop.login1';
const object = '/org/freedesktop/login1';
const manager = 'org.freedesktop.login1.Manager';
/** As the kubelet names it. */
const configFile = '99-kubelet.conf';
const held = 'held';

/**
 * Hears of a shutdown by systemd-logind, and delays it, by the programs `busctl` and `systemd-inhibit` of systemd. It needs the rights
 * of root. What others than systemd-logind say of a shutdown is not heard.
 *
 * @example
 * ```ts
 * import { LogindSignals } from 'pod-status-manager/kubelet';
 *
 * const shutdownSignals = new LogindSignals();
 * console.log(typeof shutdownSignals.listen); // function
 * ```
 */
export class LogindSignals implements ShutdownSignals {
  readonly #configFolder: string;
  readonly #busctl: string;
  readonly #systemdInhibit: string;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: LogindSignalsOptions = {}) {
    requireKnownOptions('options', options, ['configFolder', 'busctl', 'systemdInhibit']);
    for (const [name, value] of Object.entries(options)) {
      if (value !== undefined && (typeof value !== 'string' || value === ''))
        throw invalidOption(name, 'a path or a name', value);
    }
    this.#configFolder = options.configFolder ?? '/etc/systemd/logind.conf.d';
    this.#busctl = options.busctl ?? 'busctl';
    this.#systemdInhibit = options.systemdInhibit ?? 'systemd-inhibit';
  }

  /** Asks systemd-logind. */
  async read(signal: AbortSignal): Promise<MachineShutdown> {
    const properties = ['InhibitDelayMaxUSec', 'PreparingForShutdown'];
    const answer = await this.#call(['--json=short', 'get-property', service, object, manager, ...properties], signal);
    const [delay, isShuttingDown] = answer
      .trim()
      .split('\n')
      .map((line) => jsonOf(line).data);
    if (typeof delay !== 'number' || typeof isShuttingDown !== 'boolean') {
      throw new TypeError(`systemd-logind did not say how long it waits, and whether it shuts down: ${answer.slice(0, 200)}`);
    }
    return { longestDelayMs: delay / 1000, isShuttingDown };
  }

  /** Writes a file that sets systemd-logind up, and lets it read that. */
  async allowDelay(delayMs: number, signal: AbortSignal): Promise<void> {
    const file = join(this.#configFolder, configFile);
    const text = `# How long pods may take to end at a shutdown: written by the node agent.\n[Login]\nInhibitDelayMaxSec=${Math.ceil(delayMs / 1000)}\n`;
    await makeFolders(this.#configFolder, 0o755);
    await replaceFile(file, text, 0o644);
    const systemd = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];
    // 1 is SIGHUP
    await this.#call(['call', ...systemd, 'KillUnit', 'ssi', 'systemd-logind.service', 'all', '1'], signal);
  }

  /** The program that holds the delay ends with this process. */
  async delay(signal: AbortSignal): Promise<ShutdownHandle> {
    const settings = ['--what=shutdown', '--mode=delay', '--who=kubelet', '--why=Pods end before the machine shuts down'];
    // it begins once the delay is there
    const holder = ['sh', '-c', `echo ${held}; exec sleep infinity`];
    const isReady = (line: string): boolean => line === held;
    return startProgram({ command: this.#systemdInhibit, args: [...settings, ...holder], isReady, signal });
  }

  /** Ends, too, when systemd-logind is started anew: it may have forgotten who delays its shutdown. */
  async listen(tell: (isShuttingDown: boolean) => void, signal: AbortSignal): Promise<ShutdownHandle> {
    const matches = [
      `type='signal',sender='${service}',path='${object}',interface='${manager}',member='PrepareForShutdown'`,
      `type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${service}'`,
    ];
    const ends: (() => void)[] = [];
    const isReady = (line: string): boolean => {
      const { member, payload } = jsonOf(line);
      const value: unknown =
        member === 'PrepareForShutdown' ? (membersOf(payload).data as unknown[] | undefined)?.[0] : undefined;
      if (typeof value === 'boolean') tell(value);
      if (member === 'NameOwnerChanged') for (const end of ends) end();
      return line.startsWith('Monitoring bus');
    };
    const args = ['--json=short', 'monitor', ...matches.map((match) => `--match=${match}`)];
    const handle = await startProgram({ command: this.#busctl, args, isReady, signal });
    ends.push(() => handle.end());
    return handle;
  }

  async #call(args: readonly string[], signal: AbortSignal): Promise<string> {
    try {
      return await runProgram({ command: this.#busctl, args: ['--system', ...args], mostOutputBytes: 65_536, signal });
    } catch (cause) {
      if (!(cause instanceof ProgramFailure)) throw cause;
      throw new Error(cause.stderr.trim() || cause.message, { cause });
    }
  }
}

function jsonOf(line: string): Partial<Record<string, unknown>> {
  return line.startsWith('{') ? membersOf(callGuarded(() => JSON.parse(line) as unknown, ignoreFailure)) : {};
}
