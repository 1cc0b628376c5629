package agentpeer

import (
	"io"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	harness "oracle-harness"
)

var players = map[string]harness.Player{}

func TestOracle(t *testing.T) {
	harness.Play(t, players, func(log io.Writer) {
		// the default handlers keep wall-clock state over scenarios (and log)
		utilruntime.ErrorHandlers = nil
		klog.SetOutput(log)
		klog.LogToStderr(false)
	})
}
