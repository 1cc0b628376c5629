import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../structure/source-tree.ts';

const proto = readFileSync(join(root, 'tools/proto/api.proto'));
const generated = readFileSync(join(root, 'src/kubelet/cri/proto/api_pb.ts'), 'utf8');

describe('the proto file of CRI', () => {
  it('is the one that the generated code was made from', () => {
    const digest = createHash('sha256').update(proto).digest('hex');
    expect(generated.split('\n', 1)).toEqual([`// Made by \`npm run build:cri\` from tools/proto/api.proto, sha256 ${digest}.`]);
  });

  it('keeps its licence, and so does the generated code', () => {
    const licence = 'Licensed under the Apache License, Version 2.0';
    expect([proto.includes('Copyright 2020 The Kubernetes Authors'), proto.includes(licence)]).toEqual([true, true]);
    expect(generated).toContain(licence);
  });
});
