package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/catalogue"
	"orbweaver/engine/clock"
	"orbweaver/engine/cluster"
	"orbweaver/engine/counters"
	"orbweaver/engine/journal"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/seen"
	"orbweaver/engine/skipped"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench/cold"
)

// manifest names generation and length of every file of the crawl: what it does not name does not exist. It is written
// last, in one step, after all it names is durable. Its form is one line with version and checksum, then JSON.
type manifest struct {
	Generation uint64 `json:"generation"`
	CrawlID    string `json:"crawl_id"`
	HashSeed   uint64 `json:"hash_seed"`
	// Store tells what is in this directory from what its agent had before, for other agents; 0: the crawl's identity
	// does.
	Store   uint64    `json:"store,omitempty"`
	Created time.Time `json:"created"`
	Written time.Time `json:"written"`

	Boot string        `json:"boot,omitempty"` // the run of the machine that wrote it, and how long that had been
	Up   time.Duration `json:"up_ns,omitempty"`

	State   lifecycle.State `json:"state"`
	Reason  string          `json:"reason"`
	Clean   bool            `json:"clean"`  // every Page was home: there is no journal to replay
	Seeded  bool            `json:"seeded"` // all seeds have passed the door
	Resumed int             `json:"resumed"`
	// Filtered says that some run had a store filter: then an answer may have no record.
	Filtered bool `json:"filtered,omitempty"`
	// Pass is how often the crawl was begun again, and From is where its archive ended then: see turnover.go.
	Pass int      `json:"pass,omitempty"`
	From warc.Cut `json:"from,omitzero"`
	// Afresh says that this pass has no cut yet: of the rooms only archive and content-seen are what they were.
	Afresh bool `json:"afresh,omitempty"`
	// Earlier names the list of what the archive holds of each URL from before this pass; nil in the first.
	Earlier *catalogue.Cut `json:"earlier,omitempty"`
	// NotBefore is when the first request may be made: after a rebuild nobody knows who was asked last, and when, and a
	// new pass knows no addresses.
	NotBefore time.Time `json:"not_before,omitzero"`

	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	RSSPeak     int64   `json:"rss_peak_bytes"`

	Sieve    sieve.Checkpoint      `json:"sieve"`
	Ready    diskq.Checkpoint      `json:"ready"`
	Virt     virtualize.Checkpoint `json:"virtualize"`
	Seen     seen.Cut              `json:"seen"`
	Bench    benchChain            `json:"bench"`
	Cold     cold.Checkpoint       `json:"cold"`
	Archive  *warc.Cut             `json:"archive"`
	Counters counters.Totals       `json:"counters"`
	Peers    *cluster.Checkpoint   `json:"peers,omitempty"`   // nil for a crawl alone
	Novelty  []byte                `json:"novelty,omitempty"` // which URLs are delayed, and why: the state of engine/novelty
	Skipped  *skipped.Cut          `json:"skipped,omitempty"` // the list of URLs left out; nil before there was one
}

// The number of the format in the first line. A version that reads a number refuses higher ones by name, so it grows
// with each change that an earlier version would misread. Open writes a manifest before anything else of the frontier
// is written, so a directory of a former version has the new number from then on.
//
//   - 4 to 6: without passes, with passes, with other agents.
//   - 7: any of these; the journal has sync marks. A version that reads 6 takes a mark for a torn entry, and would
//     fetch and store again all that follows it.
const manifestMagic = "orbweaver-manifest 7"

// formerManifests are the formats that are read and not written.
func formerManifests() []string {
	return []string{"orbweaver-manifest 4", "orbweaver-manifest 5", "orbweaver-manifest 6"}
}

// store is the number of the data in this directory.
func (m *manifest) store() uint64 {
	if m.Store != 0 {
		return m.Store
	}
	return xxh3.HashString(m.CrawlID)
}

// clocks is what the clocks showed when it was written.
func (m *manifest) clocks() clock.Reading {
	return clock.Reading{Written: m.Written, Boot: m.Boot, Up: m.Up}
}

// usage is what all runs had used when it was written.
func (m *manifest) usage() clock.Usage {
	return clock.Usage{
		Wall: time.Duration(m.WallSeconds * float64(time.Second)), CPU: time.Duration(m.CPUSeconds * float64(time.Second)),
		RSSPeak: m.RSSPeak,
	}
}

func (m *manifest) setUsage(u clock.Usage) {
	m.WallSeconds, m.CPUSeconds, m.RSSPeak = u.Wall.Seconds(), u.CPU.Seconds(), u.RSSPeak
}

// ErrVersion says that the crawl directory was written by a version whose format this one does not read.
var ErrVersion = errors.New("engine: crawl directory of another format version")

// ErrManifest says that the manifest is damaged.
var ErrManifest = errors.New("engine: damaged manifest")

func manifestName(dir string) string { return dir + "/MANIFEST" }

// readManifest returns nil without an error when there is none.
func readManifest(fsys vfs.FS, dir string) (*manifest, error) {
	b, err := vfs.ReadFile(fsys, manifestName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no manifest is an ordinary answer
	}
	if err != nil {
		return nil, fmt.Errorf("engine: manifest: %w", err)
	}
	m, err := parseManifest(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName(dir), err)
	}
	return m, nil
}

func parseManifest(b []byte) (*manifest, error) {
	head, body, _ := strings.Cut(string(b), "\n")
	sum, ok := strings.CutPrefix(head, manifestMagic+" ")
	for _, magic := range formerManifests() {
		if !ok {
			sum, ok = strings.CutPrefix(head, magic+" ")
		}
	}
	if !ok {
		if strings.HasPrefix(head, "orbweaver-manifest ") {
			return nil, fmt.Errorf("%w: %q; use the version that made it", ErrVersion, head)
		}
		return nil, fmt.Errorf("%w: it does not begin as one", ErrManifest)
	}
	if want := fmt.Sprintf("%08x", crc32.Checksum([]byte(body), journal.Castagnoli())); sum != want {
		return nil, fmt.Errorf("%w: checksum %s, content has %s", ErrManifest, sum, want)
	}
	m := new(manifest)
	if err := json.Unmarshal([]byte(body), m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return m, nil
}

func writeManifest(fsys vfs.FS, dir string, m *manifest) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("engine: manifest: %w", err)
	}
	err = vfs.WriteAtomic(fsys, manifestName(dir), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %08x\n%s", manifestMagic, crc32.Checksum(body, journal.Castagnoli()), body)
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: manifest: %w", err)
	}
	return nil
}

// The files of a generation, beside those of the rooms.
func benchName(dir string, generation uint64) string {
	return fmt.Sprintf("%s/bench-%08d", dir, generation)
}

func aloftName(dir string, generation uint64) string {
	return fmt.Sprintf("%s/aloft-%08d", dir, generation)
}

func outboxName(dir string, generation uint64) string {
	return fmt.Sprintf("%s/outbox-%08d", dir, generation)
}

func cacheName(dir string) string { return dir + "/cache" }
