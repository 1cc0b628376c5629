// Package harness plays recorded cases with upstream's own code.
package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
)

// Player decodes one line, plays it and answers with the line to write.
type Player func(t *testing.T, line []byte) (any, error)

// Play reads cases (one JSON object a line) from ORACLE_IN, plays each by its "kind", and writes them with what upstream did to
// ORACLE_OUT. An answer of json.RawMessage is written as it is. Each version of upstream has its own way to be quiet: silence is
// given where its log goes.
func Play(t *testing.T, players map[string]Player, silence func(log io.Writer)) {
	in, err := os.Open(os.Getenv("ORACLE_IN"))
	if err != nil {
		t.Skip("ORACLE_IN is not set")
	}
	silence(io.Discard)
	out, err := os.Create(os.Getenv("ORACLE_OUT"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	defer w.Flush()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	n := 0
	for lines.Scan() {
		var head struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		}
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		p := players[head.Kind]
		if p == nil {
			t.Fatalf("unknown kind %q", head.Kind)
		}
		if os.Getenv("ORACLE_VERBOSE") != "" {
			fmt.Fprintln(os.Stderr, head.Name)
		}
		result, err := p(t, lines.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", head.Name, err)
		}
		line, isLine := result.(json.RawMessage)
		if !isLine {
			if line, err = json.Marshal(result); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintln(w, string(line))
		n++
	}
	t.Logf("%d cases", n)
}

// WithOut gives the line as it came, with what upstream did at its end.
func WithOut(line []byte, out any) (any, error) {
	b, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	if i := bytes.Index(line, []byte(`,"out":`)); i >= 0 {
		line = line[:i]
	} else {
		line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte("}"))
	}
	return json.RawMessage(fmt.Sprintf(`%s,"out":%s}`, line, b)), nil
}
