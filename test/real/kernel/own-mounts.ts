/** Throws where a mount would be seen by the whole machine, and where nothing can be mounted. */
export function requireOwnMounts(): void {
  if (process.getuid?.() !== 0) throw new Error('these tests need the rights of root, which `npm run test:kernel` cannot give');
  // the kernel lets no process compare its mounts with those of the machine
  if (process.env.OWN_MOUNTS !== '1') throw new Error('these tests need mounts of their own: run `npm run test:kernel`');
}
