//go:build tools

package controlplane

import _ "sigs.k8s.io/karpenter/pkg/apis" // keeps the module, whose CRDs the suites apply
