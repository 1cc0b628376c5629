// Writes, as JSON, each field of KubeletConfiguration with its type and its default, and each flag of the kubelet with its type and
// the field that it sets. Run it in the folder above: go run ./kubelet-settings > ../../../../unit/examples/kubelet-settings.json
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	internal "k8s.io/kubernetes/pkg/kubelet/apis/config"
	conversion "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
)

type field struct {
	Path string `json:"path"`
	Type string `json:"type"`
	// True: a zero in the file is a zero. Else it stands for the default.
	Pointer bool `json:"pointer,omitempty"`
	Default any  `json:"default,omitempty"`
}

type flag struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Field string `json:"field,omitempty"`
}

// Types that the file has as one value, whatever they are made of.
var whole = map[reflect.Type]string{
	reflect.TypeFor[metav1.Duration]():            "duration",
	reflect.TypeFor[metav1.Time]():                "time",
	reflect.TypeFor[logsapi.TimeOrMetaDuration](): "duration",
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func defaults() map[string]any {
	config := &v1beta1.KubeletConfiguration{}
	conversion.SetDefaults_KubeletConfiguration(config)
	return tree(config)
}

func tree(config *v1beta1.KubeletConfiguration) map[string]any {
	text, err := json.Marshal(config)
	must(err)
	all := map[string]any{}
	must(json.Unmarshal(text, &all))
	return all
}

func at(values any, path string) any {
	for _, name := range strings.Split(path, ".") {
		object, ok := values.(map[string]any)
		if !ok {
			return nil
		}
		values = object[name]
	}
	return values
}

func walk(each reflect.Type, path string, found *[]field) {
	isPointer := each.Kind() == reflect.Pointer
	if isPointer {
		each = each.Elem()
	}
	name, isWhole := whole[each]
	switch {
	case isWhole:
		*found = append(*found, field{Path: path, Type: name, Pointer: isPointer})
	case reflect.PointerTo(each).Implements(reflect.TypeFor[json.Unmarshaler]()):
		*found = append(*found, field{Path: path, Type: each.Name(), Pointer: isPointer})
	case each.Kind() == reflect.Struct:
		for i := range each.NumField() {
			member := each.Field(i)
			tag, rest, _ := strings.Cut(member.Tag.Get("json"), ",")
			if rest == "inline" {
				if member.Type.Name() != "TypeMeta" {
					walk(member.Type, path, found)
				}
				continue
			}
			walk(member.Type, strings.TrimPrefix(path+"."+tag, "."), found)
		}
	case each.Kind() == reflect.Slice && each.Elem().Kind() == reflect.Struct:
		*found = append(*found, field{Path: path, Type: "list"})
		walk(each.Elem(), path+"[]", found)
	default:
		*found = append(*found, field{Path: path, Type: strings.ReplaceAll(each.String(), "v1beta1.", ""), Pointer: isPointer})
	}
}

// What each flag is set to: a value that is not its default.
func samplesOf(each *pflag.Flag) []string {
	switch each.Name {
	case "eviction-hard", "eviction-soft":
		return []string{"memory.available<7"}
	case "manifest-url-header":
		return []string{"a:b"}
	case "register-with-taints":
		return []string{"a=b:NoSchedule"}
	case "reserved-memory":
		return []string{"0:memory=7Gi"}
	case "vmodule":
		return []string{"a=7"}
	case "log-json-info-buffer-size", "log-text-info-buffer-size":
		return []string{"7"}
	}
	switch each.Value.Type() {
	case "bool":
		return []string{"true", "false"}
	case "duration":
		return []string{"7s"}
	case "ip":
		return []string{"192.0.2.7"}
	case "mapStringBool":
		return []string{"AllAlpha=true"}
	case "mapStringString":
		return []string{"memory=7"}
	default:
		return []string{"7"}
	}
}

// The field that the flag sets: the first one that is different afterwards.
func fieldOf(name string, fields []field) string {
	for try := range 2 {
		config := &internal.KubeletConfiguration{}
		versioned := &v1beta1.KubeletConfiguration{}
		conversion.SetDefaults_KubeletConfiguration(versioned)
		must(conversion.Convert_v1beta1_KubeletConfiguration_To_config_KubeletConfiguration(versioned, config, nil))
		// what was left out is there after a conversion
		must(conversion.Convert_config_KubeletConfiguration_To_v1beta1_KubeletConfiguration(config, versioned, nil))
		before := tree(versioned)
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SetOutput(io.Discard)
		options.AddKubeletConfigFlags(flags, config)
		given := samplesOf(flags.Lookup(name))
		if err := flags.Set(name, given[try%len(given)]); err != nil {
			must(fmt.Errorf("%s (%s): %w", name, flags.Lookup(name).Value.Type(), err))
		}
		must(conversion.Convert_config_KubeletConfiguration_To_v1beta1_KubeletConfiguration(config, versioned, nil))
		after := tree(versioned)
		for _, each := range fields {
			if !reflect.DeepEqual(at(before, each.Path), at(after, each.Path)) {
				return each.Path
			}
		}
	}
	return ""
}

func lines[T any](all []T) string {
	written := make([]string, len(all))
	for i, each := range all {
		text, err := json.Marshal(each)
		must(err)
		written[i] = "    " + string(text)
	}
	return strings.Join(written, ",\n")
}

func main() {
	var fields []field
	walk(reflect.TypeFor[v1beta1.KubeletConfiguration](), "", &fields)
	all := defaults()
	for i := range fields {
		fields[i].Default = at(all, fields[i].Path)
	}
	var flags []flag
	ofConfig := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.AddKubeletConfigFlags(ofConfig, &internal.KubeletConfiguration{})
	ofConfig.VisitAll(func(each *pflag.Flag) {
		flags = append(flags, flag{Name: each.Name, Type: each.Value.Type(), Field: fieldOf(each.Name, fields)})
	})
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.NewKubeletFlags().AddFlags(own)
	own.VisitAll(func(each *pflag.Flag) {
		flags = append(flags, flag{Name: each.Name, Type: each.Value.Type()})
	})
	sort.Slice(flags, func(i, j int) bool { return flags[i].Name < flags[j].Name })
	fmt.Printf("{\n  \"fields\": [\n%s\n  ],\n  \"flags\": [\n%s\n  ]\n}\n", lines(fields), lines(flags))
}
