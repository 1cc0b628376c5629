// Behaviour of pkg/apis/core/validation for Windows options, v1.36.3.
import { check } from '../text/invalid-manifest.ts';
import { type Container, containersOf, type PodSpec } from '../types/pod-parts.ts';
import { checkDnsSubdomain } from './text-rules.ts';

type WindowsOptions = NonNullable<NonNullable<Container['securityContext']>['windowsOptions']>;

const longestCredentialSpec = 64 * 1024;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsName = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

export function checkWindowsOptions(path: string, options: WindowsOptions | undefined): void {
  if (!options) return;
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined) checkDnsSubdomain(`${path}.gmsaCredentialSpecName`, gmsaCredentialSpecName);
  if (gmsaCredentialSpec !== undefined) {
    const size = Buffer.byteLength(gmsaCredentialSpec);
    check(
      size > 0 && size <= longestCredentialSpec,
      `${path}.gmsaCredentialSpec`,
      `from 1 to ${longestCredentialSpec} bytes`,
      size,
    );
  }
  if (runAsUserName !== undefined)
    check(isUserName(runAsUserName), `${path}.runAsUserName`, 'a user, or DOMAIN\\\\USER', runAsUserName);
}

function isUserName(name: string): boolean {
  const parts = name.split('\\');
  const user = parts.at(-1) ?? '';
  const [domain] = parts;
  if (parts.length > 2 || [...name].some((character) => character < ' ' || character === '\x7f')) return false;
  if (parts.length === 2 && !((domain?.length ?? 0) < 256 && (netBiosName.test(domain ?? '') || dnsName.test(domain ?? ''))))
    return false;
  return user !== '' && Buffer.byteLength(user) <= 104 && !/^[. ]+$/.test(user) && !/["/\\:;|=,+*?<>@[\]]/.test(user);
}

/** Either all containers are processes of the node, or none; where they are, the pod is in the node's network. */
export function checkHostProcesses(spec: PodSpec): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = containersOf(spec).map(({ container, path }) => {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    const agrees = ofPod === undefined || own === undefined || ofPod === own;
    check(agrees, `${path}.securityContext.windowsOptions.hostProcess`, `the pod's (${ofPod})`, own);
    return own ?? ofPod ?? false;
  });
  if (!containers.includes(true)) return;
  check(!containers.includes(false), 'spec.containers', 'either all host processes, or none', 'some');
  check(spec.hostNetwork === true, 'spec.hostNetwork', 'true for host processes', spec.hostNetwork);
}
