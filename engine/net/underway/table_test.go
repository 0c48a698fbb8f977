package underway

import (
	"bytes"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// exchangeAt is an exchange of a URL that began at a second of 1970.
func exchangeAt(url string, second int64) *Exchange {
	return &Exchange{URL: []byte(url), Began: time.Unix(second, 0)}
}

// What a worker publishes is read back whole, and is gone when the exchange ends.
func TestTable_keepsWhatAWorkerDoes(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 2*URLMax)
	for name, e := range map[string]Exchange{
		"a page over IPv4": {
			URL: []byte("http://a.test/page"), Addr: netip.MustParseAddr("192.0.2.1"), Port: 80, Tries: 2,
			Began: time.Unix(100, 5),
		},
		"a robots.txt over IPv6": {
			URL: []byte("https://b.test/robots.txt"), Addr: netip.MustParseAddr("2001:db8::1"), Port: 65535, Kind: Robots,
			Began: time.Unix(100, 0),
		},
		"a root page behind a proxy": {URL: []byte("http://c.test/"), Kind: Proof, Began: time.Unix(1, 0)},
		"a long URL":                 {URL: long, Began: time.Unix(2, 0), Tries: 65535},
		"eight bytes":                {URL: []byte("http://a"), Began: time.Unix(3, 0)},
	} {
		table := NewTable(3)
		table.Begin(1, &e)
		got, ok := table.Oldest()
		want := e
		want.Worker = 1
		if len(want.URL) > URLMax {
			want.URL, want.Truncated = want.URL[:URLMax], true
		}
		same := string(got.URL) == string(want.URL) && got.Truncated == want.Truncated && got.Addr == want.Addr &&
			got.Port == want.Port && got.Kind == want.Kind && got.Tries == want.Tries && got.Began.Equal(want.Began) &&
			got.Worker == want.Worker
		if !ok || !same {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		if busy := table.End(1); busy != 1 || table.Busy() != 0 {
			t.Errorf("%s: %d busy before the end, %d after it", name, busy, table.Busy())
		}
		if got, ok := table.Oldest(); ok {
			t.Errorf("%s: %+v is under way after its end", name, got)
		}
	}
}

// The bytes of a response are there as they come: of the exchange, and of all exchanges together.
func TestTable_countsBytesAsTheyCome(t *testing.T) {
	table := NewTable(2)
	of := table.Progress(1)
	for n, c := range []struct {
		length int64
		pieces []int
	}{{0, []int{10, 20}}, {500, []int{100, 300}}} {
		table.Begin(1, exchangeAt("http://a.test/", 1))
		if c.length > 0 {
			of.Expect(c.length)
		}
		sum := int64(0)
		for _, piece := range c.pieces {
			of.Add(piece)
			sum += int64(piece)
			if _, got := table.Received(); got != sum {
				t.Errorf("exchange %d: %d bytes under way, want %d", n, got, sum)
			}
			if got, _ := table.Oldest(); got.Received != sum || got.Length != c.length {
				t.Errorf("exchange %d: %d of %d bytes, want %d of %d", n, got.Received, got.Length, sum, c.length)
			}
		}
		table.End(1)
	}
	if all, underWay := table.Received(); all != 430 || underWay != 0 {
		t.Errorf("%d bytes in all, %d of them under way", all, underWay)
	}
}

// A shorter URL in the slot of a longer one does not show the rest of that.
func TestTable_aShortURLReplacesALongOne(t *testing.T) {
	table := NewTable(1)
	long := exchangeAt("http://a.test/long", 1)
	long.Addr = netip.MustParseAddr("192.0.2.1")
	table.Begin(0, long)
	table.End(0)
	table.Begin(0, exchangeAt("http://b/", 2))
	if e, ok := table.Oldest(); !ok || string(e.URL) != "http://b/" || e.Addr.IsValid() {
		t.Errorf("%q at %v", e.URL, e.Addr)
	}
}

// The list begins with the exchange that has lasted longest, and ends at the limit.
func TestTable_listsTheOldestFirst(t *testing.T) {
	table := NewTable(8)
	for worker, second := range map[int]int64{1: 30, 3: 10, 5: 20, 7: 40} {
		table.Begin(worker, exchangeAt("http://a.test/", second))
	}
	var workers []int
	for _, e := range table.List(3) {
		workers = append(workers, e.Worker)
	}
	if len(workers) != 3 || workers[0] != 3 || workers[1] != 5 || workers[2] != 1 {
		t.Errorf("workers %v, want 3, 5, 1", workers)
	}
	if oldest, ok := table.Oldest(); !ok || oldest.Worker != 3 || table.Busy() != 4 {
		t.Errorf("worker %d is the oldest of %d", oldest.Worker, table.Busy())
	}
}

// A reader never sees a mixture of two exchanges while workers write.
func TestTable_readersSeeWholeExchanges(t *testing.T) {
	const workers, rounds = 4, 2_000
	table := NewTable(workers)
	var writers sync.WaitGroup
	for w := range workers {
		writers.Go(func() {
			for i := range rounds {
				c := byte('a' + i%26)
				table.Begin(w, &Exchange{
					URL: bytes.Repeat([]byte{c}, 1+i%100), Addr: netip.AddrFrom4([4]byte{c}), Port: uint16(c),
					Began: time.Unix(int64(c), 0),
				})
				table.End(w)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	for {
		for _, e := range table.List(workers) {
			c := byte(e.Port)
			if len(bytes.Trim(e.URL, string(c))) > 0 || e.Addr.As4()[0] != c || e.Began.Unix() != int64(c) {
				t.Fatalf("a mixture: %+v", e)
			}
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// Publishing allocates nothing.
func TestTable_allocatesNothing(t *testing.T) {
	table := NewTable(1)
	e := exchangeAt("http://www.example.org/some/page.html", 1)
	if n := testing.AllocsPerRun(100, func() { table.Begin(0, e); table.End(0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkSlot is what an exchange pays, with a URL of 80 bytes.
func BenchmarkSlot(b *testing.B) {
	table := NewTable(1)
	e := exchangeAt(string(bytes.Repeat([]byte("x"), 80)), 1)
	e.Addr, e.Port = netip.MustParseAddr("192.0.2.1"), 443
	for b.Loop() {
		table.Begin(0, e)
		table.End(0)
	}
}

// BenchmarkOldest is what a report pays, with 1,024 workers that are all in an exchange.
func BenchmarkOldest(b *testing.B) {
	table := NewTable(1024)
	for i := range 1024 {
		table.Begin(i, exchangeAt("http://www.example.org/some/page.html", int64(i+1)))
	}
	for b.Loop() {
		table.Oldest()
	}
}
