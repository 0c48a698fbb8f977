package throughput

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// crawlLock is a lock that a crawl has once: one goroutine holds it, however many cores there are.
type crawlLock struct {
	name string
	held []string // prefixes of the functions that hold it, from their beginning to their end or nearly so
}

// crawlLocks are the locks that the work of each page needs.
func crawlLocks() []crawlLock {
	return []crawlLock{
		{"workbench", []string{"orbweaver/workbench."}},
		{"site table", []string{
			"orbweaver/engine/frontier/sites.(*Table).find", "orbweaver/engine/frontier/sites.(*Table).refusalOfNew",
		}},
		{"commit", []string{"orbweaver/engine/store/journal.(*Store).writeAll"}},
		{"sieve bucket", []string{"orbweaver/sieve.(*buckets).add", "orbweaver/sieve.(*buckets).full"}},
		{"crawl log", []string{
			"orbweaver/engine/store/crawllog.(*Log).Attempt", "orbweaver/engine/store/crawllog.(*Log).Refusal",
		}},
		{"payloads", []string{"orbweaver/engine/records/dedup.(*Map).find"}},
		{"shares", []string{"orbweaver/engine/state/visit.(*Shares).Divide"}},
		{"in flight", []string{"orbweaver/engine/state/attempt.(*InFlight)"}},
		{"unresolved", []string{"orbweaver/engine/frontier/sites.(*UnresolvedQueue)"}},
	}
}

// isHeld reports whether a function of a sample holds the lock.
func (l *crawlLock) isHeld(sample *profile.Sample) bool {
	for name := range functionsOf(sample) {
		if slices.ContainsFunc(l.held, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return true
		}
	}
	return false
}

// functionsOf gives the functions of a sample, the innermost first.
func functionsOf(sample *profile.Sample) func(yield func(name string) bool) {
	return func(yield func(name string) bool) {
		for _, at := range sample.Location {
			for _, line := range at.Line {
				if !yield(line.Function.Name) {
					return
				}
			}
		}
	}
}

// The names of waits that are not for a lock of the list.
const (
	runtimeLocks = "the runtime"
	otherLocks   = "others"
)

// waitedFor returns the name of the lock that a sample of the mutex profile has waited for. Its innermost function
// released the lock.
func waitedFor(sample *profile.Sample, locks []crawlLock) string {
	for name := range functionsOf(sample) {
		if strings.HasPrefix(name, "runtime.") {
			return runtimeLocks
		}
		for _, l := range locks {
			if slices.ContainsFunc(l.held, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				return l.name
			}
		}
		if strings.HasPrefix(name, "orbweaver/") {
			return strings.TrimPrefix(name, "orbweaver/")
		}
	}
	return otherLocks
}

// lockWaits returns how many nanoseconds goroutines have waited for each lock since the program began. The mutex
// profile must be on.
func lockWaits() (map[string]int64, error) {
	var buf bytes.Buffer
	if err := pprof.Lookup("mutex").WriteTo(&buf, 0); err != nil {
		return nil, fmt.Errorf("throughput: mutex profile: %w", err)
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		return nil, fmt.Errorf("throughput: mutex profile: %w", err)
	}
	return waitsOf(p)
}

// waitsOf adds up the waits of a mutex profile by lock.
func waitsOf(p *profile.Profile) (map[string]int64, error) {
	delay := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "delay" })
	if delay < 0 {
		return nil, errors.New("throughput: mutex profile: no delays in it")
	}
	waits, locks := map[string]int64{}, crawlLocks()
	for _, sample := range p.Sample {
		waits[waitedFor(sample, locks)] += sample.Value[delay]
	}
	return waits, nil
}

// since returns what was added to counts.
func since(before, after map[string]int64) map[string]int64 {
	added := maps.Clone(after)
	for name, n := range before {
		added[name] -= n
	}
	return added
}
