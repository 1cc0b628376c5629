// Behaviour of pkg/apis/core/validation for probes and lifecycle hooks, v1.36.3.
import { check } from '../text/invalid-manifest.ts';
import type { Container, PodSpec, Probe } from '../types/pod-parts.ts';
import { checkOneOf, checkPort, checkPortOrName, checkPresent } from './text-rules.ts';

type Lifecycle = NonNullable<Container['lifecycle']>;
type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & { readonly sleep?: { readonly seconds: number } };

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;
const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

export function checkProbe(path: string, probe: Probe, kind: 'livenessProbe' | 'readinessProbe' | 'startupProbe'): void {
  checkHandler(path, probe, undefined);
  for (const amount of probeNumbers) check((probe[amount] ?? 0) >= 0, `${path}.${amount}`, 'at least 0', probe[amount]);
  const grace = probe.terminationGracePeriodSeconds;
  check(grace === undefined || grace > 0, `${path}.terminationGracePeriodSeconds`, 'at least 1', grace);
  if (kind === 'readinessProbe') check(grace === undefined, `${path}.terminationGracePeriodSeconds`, 'absent', grace);
  else check(probe.successThreshold === 1, `${path}.successThreshold`, '1', probe.successThreshold);
}

export function checkLifecycle(path: string, { postStart, preStop, stopSignal }: Lifecycle, spec: PodSpec): void {
  if (postStart) checkHandler(`${path}.postStart`, postStart, spec.terminationGracePeriodSeconds);
  if (preStop) checkHandler(`${path}.preStop`, preStop, spec.terminationGracePeriodSeconds);
  if (stopSignal === undefined) return;
  checkPresent('spec.os.name', spec.os?.name);
  checkOneOf(`${path}.stopSignal`, stopSignal, spec.os?.name === 'windows' ? ['SIGKILL', 'SIGTERM'] : stopSignals);
}

function checkHandler(path: string, handler: Handler, graceSeconds: number | undefined): void {
  const given = handlers.filter((kind) => handler[kind] !== undefined);
  check(given.length === 1, path, 'exactly one handler', given.join(', '));
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (exec) check((exec.command?.length ?? 0) > 0, `${path}.exec.command`, 'a list that is not empty', exec.command);
  if (tcpSocket) checkPortOrName(`${path}.tcpSocket.port`, tcpSocket.port);
  if (grpc) checkPort(`${path}.grpc.port`, grpc.port);
  if (sleep && graceSeconds !== undefined) {
    const fits = sleep.seconds >= 0 && sleep.seconds <= graceSeconds;
    check(fits, `${path}.sleep.seconds`, `from 0 to terminationGracePeriodSeconds (${graceSeconds})`, sleep.seconds);
  }
  if (httpGet) checkHttpGet(`${path}.httpGet`, httpGet);
}

function checkHttpGet(path: string, httpGet: NonNullable<Handler['httpGet']>): void {
  checkPortOrName(`${path}.port`, httpGet.port);
  checkOneOf(`${path}.scheme`, httpGet.scheme, ['HTTP', 'HTTPS']);
  for (const [index, { name }] of (httpGet.httpHeaders ?? []).entries()) {
    check(/^[-A-Za-z0-9]+$/.test(name), `${path}.httpHeaders[${index}].name`, 'letters, digits and hyphens', name);
  }
}

const stopSignals: readonly string[] = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL', 'PROF'],
  ...['PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1', 'USR2'],
  ...['VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN', 'RTMAX'],
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${index + 1}`),
].map((name) => `SIG${name}`);
