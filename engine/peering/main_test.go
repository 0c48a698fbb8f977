package peering

import (
	"testing"

	"go.uber.org/goleak"

	"orbweaver/engine/post"
)

func TestMain(m *testing.M) {
	post.Quiet()
	goleak.VerifyTestMain(m)
}
