package network

import (
	"testing"

	"go.uber.org/goleak"

	"orbweaver/engine/cluster/transport"
)

func TestMain(m *testing.M) {
	transport.Quiet()
	goleak.VerifyTestMain(m)
}
