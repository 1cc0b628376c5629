package modern

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	harness "oracle-harness"
)

type selectorsCase struct {
	Kind        string           `json:"kind"`
	Name        string           `json:"name"`
	Expressions []string         `json:"expressions"`
	Devices     []selectedDevice `json:"devices"`
}

type selectedDevice struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations,omitempty"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

// playSelectors compiles each expression as the scheduler does, and asks it about each device.
func playSelectors(t *testing.T, line []byte) (any, error) {
	var c selectorsCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	out := make([][]string, 0, len(c.Expressions))
	for _, expression := range c.Expressions {
		compiled := compiledSelector(expression)
		if compiled.Error != nil {
			t.Logf("%s: %s: %v", c.Name, expression, compiled.Error)
		}
		answers := make([]string, 0, len(c.Devices))
		for _, d := range c.Devices {
			if compiled.Error != nil {
				answers = append(answers, "compileError")
				continue
			}
			matches, _, err := compiled.DeviceMatches(context.Background(), dracel.Device{Driver: d.Driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity})
			switch {
			case err != nil:
				t.Logf("%s: %s: %v", c.Name, expression, err)
				answers = append(answers, "runtimeError")
			case matches:
				answers = append(answers, "true")
			default:
				answers = append(answers, "false")
			}
		}
		out = append(out, answers)
	}
	return harness.WithOut(line, out)
}

// compiledSelector compiles an expression; where upstream panics, which would end the scheduler, that is an error.
func compiledSelector(expression string) (result dracel.CompilationResult) {
	defer func() {
		if r := recover(); r != nil {
			result.Error = &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: fmt.Sprint(r)}
		}
	}()
	return dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, dracel.Options{DisableCostEstimation: true})
}

func init() { players["deviceSelectors"] = playSelectors }
