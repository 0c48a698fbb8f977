package fetchers

import (
	"testing"
	"time"
)

// A small crawl has several sites for each worker, so it keeps more connections than workers. It looks up no fewer
// names at a time, since some of them take long.
func TestCounts_defaultsByTheNumberOfFetchWorkers(t *testing.T) {
	for _, c := range []struct{ fetchers, conns, resolvers int }{
		{1, 8, 256}, {64, 512, 256}, {500, 1024, 500}, {1024, 1024, 640}, {16000, 16000, 640},
	} {
		o := Counts{Fetchers: c.fetchers, KeepAlive: time.Second}.WithDefaults()
		if o.IdleConnsMax != c.conns || o.Resolvers != c.resolvers {
			t.Errorf("%d fetch workers: %d connections, want %d; %d lookups, want %d",
				c.fetchers, o.IdleConnsMax, c.conns, o.Resolvers, c.resolvers)
		}
	}
	if o := (Counts{Fetchers: 64, KeepAlive: -1}).WithDefaults(); o.IdleConnsMax != 0 {
		t.Errorf("without kept connections there may be %d", o.IdleConnsMax)
	}
}
