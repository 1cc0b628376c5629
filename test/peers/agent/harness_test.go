package agentpeer

// Reads cases (one JSON object a line) from ORACLE_IN, plays each by its "kind", writes them with what upstream did to ORACLE_OUT.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// a player decodes one line, plays it and answers with the line to write
type player func(t *testing.T, line []byte) (any, error)

var players = map[string]player{}

func TestOracle(t *testing.T) {
	in, err := os.Open(os.Getenv("ORACLE_IN"))
	if err != nil {
		t.Skip("ORACLE_IN is not set")
	}
	// the default handlers keep wall-clock state over scenarios (and log)
	utilruntime.ErrorHandlers = nil
	klog.SetOutput(devNull{})
	klog.LogToStderr(false)
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
		b, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(w, string(b))
		n++
	}
	t.Logf("%d cases", n)
}

type devNull struct{}

func (devNull) Write(b []byte) (int, error) { return len(b), nil }
