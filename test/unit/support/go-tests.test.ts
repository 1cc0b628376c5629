import { describe, expect, it } from 'vitest';
import { readGoTests } from '../../real/virtual-kubelet/support/go-tests.ts';

const output = `=== RUN   TestEndToEnd
    suite.go:67: True
=== RUN   TestEndToEnd/TestGood
    basic.go:33: Created pod
=== RUN   TestEndToEnd/TestBad
    basic.go:40: no such pod
    second line
=== RUN   TestEndToEnd/TestSkipped
    suite.go:70: Skipped due to shouldSkipTest()
--- FAIL: TestEndToEnd (1.02s)
    --- PASS: TestEndToEnd/TestGood (0.50s)
    --- FAIL: TestEndToEnd/TestBad (0.50s)
    --- SKIP: TestEndToEnd/TestSkipped (0.00s)
FAIL
`;

describe('the output of a Go program of tests', () => {
  it('tells which tests passed, failed with which words, and were skipped', () => {
    const { passed, failed, skipped } = readGoTests(output);
    expect(passed).toEqual(['TestEndToEnd/TestGood']);
    expect([...failed]).toEqual([['TestEndToEnd/TestBad', 'basic.go:40: no such pod\n    second line']]);
    expect(skipped).toEqual(['TestEndToEnd/TestSkipped']);
  });

  it('shows a test as failed that began and did not end', () => {
    const { passed, failed } = readGoTests('=== RUN   TestA\n=== RUN   TestA/one\npanic: at the disco\nended after 9 ms');
    expect(passed).toEqual([]);
    expect([...failed]).toEqual([['TestA/one', 'panic: at the disco\nended after 9 ms']]);
  });

  it('shows a test as failed whose parts all passed', () => {
    const { passed, failed } = readGoTests(`${output.replaceAll('FAIL: TestEndToEnd/', 'PASS: TestEndToEnd/')}`);
    expect(passed).toEqual(['TestEndToEnd/TestGood', 'TestEndToEnd/TestBad']);
    expect([...failed.keys()]).toEqual(['TestEndToEnd']);
  });

  it('has no test where none ran', () => {
    expect(readGoTests('no such file\n')).toEqual({ passed: [], failed: new Map(), skipped: [] });
  });
});
