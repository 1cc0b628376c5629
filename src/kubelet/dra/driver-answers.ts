import { textBeginning } from '../../base/text-beginning.ts';
import type { DraClaim, DraDevice, PreparedClaim } from './dra-driver.ts';

/** An allocation has at most 32 devices, and a device some names. */
const mostDevices = 256;
const mostTexts = 2048;
const longestText = 1024;
/** Of what is kept of one answer for one claim, as the checkpoint has it: text within text. */
const mostBytes = 256 * 1024;
const longestError = 1000;

/** What a driver has answered for claims: devices or nothing by the uid of each that went well, and why each other one did not. */
export interface CheckedAnswer<T> {
  readonly done: ReadonlyMap<string, T>;
  readonly failures: readonly Error[];
}

/** An answer for a claim that was not asked for counts as none at all: nobody knows what the driver has done. */
export function checkedPreparation(
  asked: readonly DraClaim[],
  answer: ReadonlyMap<string, PreparedClaim>,
): CheckedAnswer<readonly DraDevice[]> {
  return checked('NodePrepareResources', asked, answer, ({ error, devices }) => ({ error, value: () => keptDevices(devices) }));
}

/** The same for claims that were to be undone. */
export function checkedUndoing(asked: readonly DraClaim[], answer: ReadonlyMap<string, string>): CheckedAnswer<true> {
  return checked('NodeUnprepareResources', asked, answer, (error) => ({ error, value: () => true }));
}

function checked<A, T>(
  call: string,
  asked: readonly DraClaim[],
  answer: ReadonlyMap<string, A>,
  read: (one: A) => { readonly error: string; readonly value: () => T },
): CheckedAnswer<T> {
  const uids = new Set(asked.map(({ uid }) => uid));
  const stranger = [...answer.keys()].find((uid) => !uids.has(uid));
  if (stranger !== undefined) {
    throw new Error(`${call} returned result for unknown claim UID ${textBeginning(stranger, 100)}`);
  }
  const done = new Map<string, T>();
  const failures: Error[] = [];
  for (const { uid, name } of asked) {
    const one = answer.get(uid);
    if (one === undefined) continue;
    try {
      const { error, value } = read(one);
      if (error !== '') throw new Error(textBeginning(error, longestError));
      done.set(uid, value());
    } catch (cause) {
      failures.push(new Error(`${call} failed for ResourceClaim ${name}: ${(cause as Error).message}`));
    }
  }
  const skipped = asked.length - answer.size;
  if (skipped !== 0) failures.push(new Error(`${call} skipped ${skipped} ResourceClaims`));
  return { done, failures };
}

/** Copies: what a driver's answer holds beside is not kept. */
function keptDevices(devices: readonly DraDevice[]): readonly DraDevice[] {
  if (devices.length > mostDevices)
    throw new Error(`the driver answers ${devices.length} devices, and a claim has at most ${mostDevices}`);
  let texts = 0;
  const kept = devices.map(({ poolName, deviceName, shareID, requestNames, cdiDeviceIDs }) => {
    texts += requestNames.length + cdiDeviceIDs.length;
    if (texts > mostTexts) throw new Error(`the driver answers more than ${mostTexts} names of requests and of CDI devices`);
    for (const text of [poolName, deviceName, shareID ?? '', ...requestNames, ...cdiDeviceIDs]) {
      if (text.length > longestText) throw new Error(`the driver answers a name of ${text.length} characters`);
    }
    const device = { poolName, deviceName, requestNames: [...requestNames], cdiDeviceIDs: [...cdiDeviceIDs] };
    return shareID === undefined ? device : { ...device, shareID };
  });
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(kept)));
  if (bytes > mostBytes)
    throw new Error(`the devices that the driver answers take ${bytes} bytes, and this node keeps ${mostBytes} of a claim`);
  return kept;
}
