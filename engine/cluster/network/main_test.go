package network

import (
	"testing"

	"go.uber.org/goleak"

	"orbweaver/engine/peering/transport"
)

func TestMain(m *testing.M) {
	transport.Quiet()
	goleak.VerifyTestMain(m)
}
