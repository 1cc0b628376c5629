import { falsifyOut } from '../kinds/falsify-out.ts';
import { memberDifferences } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type DevicesCase, devicesCaseProblem, type NodeDevices } from './devices-case.ts';
import { playDevices } from './play-devices.ts';

/** Recordings of which devices the allocator gives to claims. */
export const devicesKind = replayedKind({
  problem: devicesCaseProblem,
  play: playDevices,
  judge: judgeDevices,
  falsify: falsifyOut,
});

/** What differs, node by node. There is no exemption. */
function judgeDevices({ out }: DevicesCase, played: Readonly<Record<string, NodeDevices>>): string[] {
  return memberDifferences({ ...out }, { ...played });
}
