import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../structure/source-tree.ts';

const licence = 'Licensed under the Apache License, Version 2.0';

describe.each([
  'cri/api',
  'plugins/pluginregistration',
  'plugins/csi',
  'plugins/dra_v1',
  'plugins/dra_v1beta1',
  'plugins/dra_health',
])('the proto file %s', (name) => {
  const [folder = '', file = ''] = name.split('/');
  const proto = readFileSync(join(root, `tools/proto/${name}.proto`));
  const generated = readFileSync(join(root, `src/kubelet/${folder}/proto/${file}_pb.ts`), 'utf8');

  it('is the one that the generated code was made from', () => {
    const digest = createHash('sha256').update(proto).digest('hex');
    const line = `// Made by \`npm run build:cri\` from tools/proto/${name}.proto, sha256 ${digest}.`;
    expect(generated.split('\n', 1)).toEqual([line]);
  });
});

describe('the proto file of CRI', () => {
  it('keeps its licence, and so does the generated code', () => {
    const proto = readFileSync(join(root, 'tools/proto/cri/api.proto'));
    expect([proto.includes('Copyright 2020 The Kubernetes Authors'), proto.includes(licence)]).toEqual([true, true]);
    expect(readFileSync(join(root, 'src/kubelet/cri/proto/api_pb.ts'), 'utf8')).toContain(licence);
  });
});
