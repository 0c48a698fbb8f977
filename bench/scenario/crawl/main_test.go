package crawl

import (
	"testing"

	"orbweaver/bench/scenario/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }
