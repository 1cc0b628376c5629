// Two cases of kwok's end-to-end tests, over a cluster that is there: kwok's own main makes one of containers.
package suite

import (
	"os"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/kwok/test/e2e"
	"sigs.k8s.io/kwok/test/e2e/helper"
)

var testEnv env.Environment

func TestMain(m *testing.M) {
	testEnv = helper.Environment()
	os.Exit(testEnv.Run(m))
}

func TestNode(t *testing.T) {
	testEnv.Test(t, e2e.CaseNode("node").Feature())
}

func TestPod(t *testing.T) {
	testEnv.Test(t, e2e.CasePod("node", "default").Feature())
}
