// Package suite keeps what the suite imports in go.mod.
package suite

import _ "github.com/virtual-kubelet/virtual-kubelet/test/e2e"
