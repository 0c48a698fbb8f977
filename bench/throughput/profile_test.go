package throughput

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// stack makes a sample of so many nanoseconds; the innermost function comes first, as in a profile.
func stack(nanos int64, functions ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{1, nanos}}
	for _, f := range functions {
		s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: f}}}})
	}
	return s
}

func TestSharesGoToTheInnermostFunctionThatHasAPart(t *testing.T) {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu"}},
		Sample: []*profile.Sample{
			stack(10, "syscall.Syscall", "os.(*File).Read", "orbweaver/engine/net/fetch.(*socketConn).Read",
				"orbweaver/engine.(*fetchWorker).run"),
			stack(20, "internal/runtime/syscall.Syscall6", "os.(*File).WriteAt", "orbweaver/internal/vfs.(*file).WriteAt",
				"orbweaver/warc.(*outFile).append"),
			stack(30, "crypto/sha1.blockSHANI", "orbweaver/warc.(*Encoder).Append",
				"orbweaver/engine/workers/parsers.(*recordBuilder).encode"),
			stack(15, "crypto/internal/fips140/aes/gcm.gcmAesDec", "crypto/tls.(*Conn).Read",
				"orbweaver/engine/net/fetch.(*connection).read"),
			stack(25, "syscall.Syscall", "net.(*conn).Read", "crypto/tls.(*Conn).Read",
				"orbweaver/engine/net/fetch.(*connection).read"),
			stack(35, "hash/crc32.update", "orbweaver/internal/inflate.(*Decoder).Gzip",
				"orbweaver/engine/net/fetch.(*Decoder).run",
				"orbweaver/engine/net/fetch.(*Page).Decoded", "orbweaver/engine.(*linkFinder).scan"),
			stack(45, "syscall.Syscall", "net.(*conn).Read", "orbweaver/engine/net/fetch.(*connector).tunnel",
				"orbweaver/engine/net/fetch.(*connector).connect"),
			stack(40, "runtime.futex", "runtime.findRunnable", "runtime.schedule", "runtime.mcall"),
			stack(50, "runtime.mallocgc", "orbweaver/warc.(*Encoder).Append"),
			stack(60, "orbweaver/engine/workers/parsers.(*Worker).Run"),
			stack(70, "another.package"),
		},
	}
	s, err := sharesOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]int64{
		partNetwork: 10 + 25, partTLS: 15, partInflate: 35, partTunnel: 45, partDisk: 20, partDigest: 30, partScheduler: 40,
		partGarbage: 50, partEngine: 60, partRest: 70, partRecords: 0,
	} {
		if s.shares[part] != want {
			t.Errorf("%s has %d, want %d", part, s.shares[part], want)
		}
	}
	sum := 0.0
	for _, w := range compare(s, s, 100, 200) {
		sum += w.Loop
		if math.Abs(2*w.Loop-w.Crawl) > 1e-9 {
			t.Errorf("%s takes %v in the loop and %v in the crawl", w.Part, w.Loop, w.Crawl)
		}
	}
	if math.Abs(sum-100) > 1e-9 {
		t.Errorf("all parts together take %v, the page 100", sum)
	}
}

func TestLoopsAndLocksAreCountedApart(t *testing.T) {
	parse := stack(30, "internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock",
		"orbweaver/engine.(*ledger).write")
	parse.Label = map[string][]string{"loop": {"parse"}}
	fetch := stack(50, "orbweaver/engine/net/fetch.(*Fetcher).Fetch")
	fetch.Label = map[string][]string{"loop": {"fetch"}}
	s, err := sharesOf(&profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu"}},
		Sample:     []*profile.Sample{parse, fetch, stack(20, "runtime.gcBgMarkWorker")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if share := s.lockShare(); math.Abs(share-0.3) > 1e-9 {
		t.Errorf("locks take %v", share)
	}
	want := []Loop{{"fetch", 100}, {"parse", 60}, {"the rest", 40}}
	if got := byLoop(s, 200); !slices.Equal(got, want) {
		t.Errorf("loops %v, want %v", got, want)
	}
}

// Work under a lock counts for the lock, whichever loop does it, also if another lock is held, too. A contended lock is
// not held. The function that releases a lock tells for which one others have waited.
func TestLocksHeldAndWaitedFor(t *testing.T) {
	get, find := "orbweaver/workbench.(*Workbench[...]).Get", "orbweaver/engine/frontier/sites.(*Table).find"
	held, err := sharesOf(&profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu"}},
		Sample: []*profile.Sample{
			stack(10, get, "orbweaver/engine/frontier/schedule.(*placer).place"), stack(20, "memequal", get, find),
			stack(40, "internal/sync.(*Mutex).lockSlow", get), stack(80, "orbweaver/workbench/cold.(*Store).Take", find),
		},
	})
	if err != nil || held.held["workbench"] != 30 || held.held["site table"] != 100 || held.locks != 40 {
		t.Errorf("%+v, %v", held, err)
	}
	waits, err := waitsOf(&profile.Profile{
		SampleType: []*profile.ValueType{{Type: "contentions"}, {Type: "delay"}},
		Sample: []*profile.Sample{
			stack(1, "sync.(*Mutex).Unlock", get, find), stack(2, "runtime.unlock", get), stack(4, "sync.(*Mutex).Unlock"),
			stack(8, "sync.(*Mutex).Unlock", "orbweaver/dnsres.(*cache).get", get),
		},
	})
	want := map[string]int64{"workbench": 1, runtimeLocks: 2, otherLocks: 4, "dnsres.(*cache).get": 8}
	if err != nil || !maps.Equal(waits, want) {
		t.Errorf("%v, %v", waits, err)
	}
	if got := since(map[string]int64{"workbench": 1}, waits); got["workbench"] != 0 || got[otherLocks] != 4 {
		t.Errorf("%v", got)
	}
	if _, err := waitsOf(&profile.Profile{}); err == nil {
		t.Error("a profile without delays was taken for one of locks")
	}
}

func TestEachPartIsInTable(t *testing.T) {
	listed := map[string]bool{}
	for _, part := range partsInOrder() {
		listed[part] = true
	}
	for _, p := range partPrefixes() {
		if !listed[p.part] {
			t.Errorf("%s: the part %q is in no list", p.prefix, p.part)
		}
	}
}

// Each prefix that names code of this module names code that exists: a move would change the parts without notice.
func TestPrefixesNameExistingCode(t *testing.T) {
	form := regexp.MustCompile(`^orbweaver/([\w/]+?)(?:\.(?:\(\*(\w+)\)(?:\.(\w+))?|(\w+))?)?$`)
	var prefixes []string
	for _, p := range partPrefixes() {
		prefixes = append(prefixes, p.prefix)
	}
	for _, l := range crawlLocks() {
		prefixes = append(prefixes, l.held...)
	}
	for _, prefix := range prefixes {
		if !strings.HasPrefix(prefix, "orbweaver/") || prefix == "orbweaver/" {
			continue
		}
		m := form.FindStringSubmatch(prefix)
		if m == nil {
			t.Errorf("%s: not a prefix of a function name", prefix)
			continue
		}
		text := sources(t, filepath.Join("..", "..", m[1]))
		for _, want := range []string{m[2], m[3], m[4]} {
			if want != "" && !regexp.MustCompile(`(?m)^\s*(type|func( \([^)]*\))?)?\s*`+want).MatchString(text) {
				t.Errorf("%s: %s is not in %s", prefix, want, m[1])
			}
		}
	}
}

// sources is the code of a package, without its tests.
func sources(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Errorf("%s: no package, %v", dir, err)
	}
	var text strings.Builder
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			text.Write(b)
		}
	}
	return text.String()
}
