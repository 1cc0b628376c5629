import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** Makes this process trust one more CA, as if it were the system's, until disposed of. */
export function trustedBySystem(cert: string): Disposable {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  return { [Symbol.dispose]: () => setDefaultCACertificates(before) };
}
