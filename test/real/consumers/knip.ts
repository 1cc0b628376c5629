import { entryPoints } from '../../structure/rooms.ts';

/** What knip looks at. Whatever it is told to leave out says why. */
export default {
  entry: [
    ...entryPoints.map((name) => `src/${name}.ts`),
    'test/**/*.test.ts',
    'test/**/*.test-d.ts',
    // scripts that other files run as processes, by their path
    'bench/*/{*worker,reader,scenarios,batch,functions}.ts',
    'bench/mirror.ts',
    // examples are read and run, and nothing imports them
    'examples/**/*.ts',
    // Stryker reads it
    'test/random/mutation/vitest.config.ts',
    // named behind unshare, which knip does not look through
    'test/real/{kernel,csi,devices}/vitest.config.ts',
    'test/real/virtual-kubelet/{vitest.config,support/setup,build,agent}.ts',
    'test/real/machine/{vitest.config,record,node-tests,support/agent-of-machine,support/server-outside}.ts',
    '.ci/*.mjs',
    'tools/page/**/*.{ts,tsx}',
  ],
  project: [
    'src/**/*.ts',
    'test/**/*.ts',
    'bench/**/*.ts',
    'examples/**/*.ts',
    '.ci/*.mjs',
    'tools/page/**/*.{ts,tsx}',
    'tools/site/*.ts',
  ],
  ignore: [
    // text for a compiler that another test starts
    'test/package/fixture/types.ts',
    // made of proto files, with all that is in these
    'src/kubelet/*/proto/*_pb.ts',
  ],
  // in tools/site/package.json
  ignoreDependencies: ['typedoc'],
  // mkfifo of coreutils, mount, losetup, unshare and setpriv of util-linux, and systemd-run, for tests; buf is in tools/proto/package.json
  ignoreBinaries: ['buf', 'mkfifo', 'mount', 'umount', 'losetup', 'unshare', 'setpriv', 'systemd-run'],
  // A type may be exported beside the function that takes or gives it, for a reader who wants to name it.
  ignoreExportsUsedInFile: { interface: true, type: true },
};
