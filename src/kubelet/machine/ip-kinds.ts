/** Addresses that no node has: why this is one of them; undefined for any other. The address is in its short form. */
export function unusableKind(address: string): string | undefined {
  if (address === '0.0.0.0' || address === '::') return 'unspecified';
  const [first, second] = leadingBytes(address);
  if (address === '::1' || (isIPv4(address) && first === 127)) return 'loopback';
  if (isIPv4(address)) {
    if (first >= 224 && first < 240) return 'multicast';
    return first === 169 && second === 254 ? 'link-local' : undefined;
  }
  if (first === 0xff) return 'multicast';
  return first === 0xfe && (second & 0xc0) === 0x80 ? 'link-local' : undefined;
}

/** True for `0.0.0.0` and `::`, which name a family and no machine. */
export function isUnspecified(address: string): boolean {
  return unusableKind(address) === 'unspecified';
}

/** True for the address of one machine that others than its neighbours can reach; those of private networks are such. */
export function isGlobalUnicast(address: string): boolean {
  return unusableKind(address) === undefined && address !== '255.255.255.255';
}

export function isIPv4(address: string): boolean {
  return !address.includes(':');
}

function leadingBytes(address: string): [number, number] {
  if (isIPv4(address)) {
    const [first, second] = address.split('.').map(Number);
    return [first ?? 0, second ?? 0];
  }
  const word = Number.parseInt(address.split(':')[0] || '0', 16);
  return [word >> 8, word & 0xff];
}
