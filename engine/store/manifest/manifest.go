package manifest

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench/cold"
)

// Manifest names the generation and the length of every file of the crawl: a file that it does not name does not exist.
// It is written last, in one step, after everything that it names is durable. Its form is one line with version and
// checksum, then JSON. The part of a component is the component's own type.
type Manifest struct {
	Generation uint64 `json:"generation"`
	CrawlID    string `json:"crawl_id"`
	HashSeed   uint64 `json:"hash_seed"`
	// Store distinguishes the data in this directory from what its agent had before; 0: the CrawlID does. See StoreID.
	Store   uint64    `json:"store,omitempty"`
	Created time.Time `json:"created"`
	Written time.Time `json:"written"`

	Boot string        `json:"boot,omitempty"` // of the machine that wrote it
	Up   time.Duration `json:"up_ns,omitempty"`

	State   lifecycle.State `json:"state"`
	Reason  string          `json:"reason"`
	Clean   bool            `json:"clean"`  // no Page was in flight: there is no journal to replay
	Seeded  bool            `json:"seeded"` // all seeds in the first Seeds bytes of their file have passed admission
	Resumed int             `json:"resumed"`
	// Seeds is 0 for the whole file in a manifest of an earlier version.
	Seeds int64 `json:"seeds_bytes,omitempty"`
	// Filtered says that some run had a store filter: then an answer may have no record.
	Filtered bool `json:"filtered,omitempty"`
	// Pass counts from 0. From is where the archive ended when the pass began.
	Pass int             `json:"pass,omitempty"`
	From warc.Checkpoint `json:"from,omitzero"`
	// Afresh says that this pass has no checkpoint yet: only archive and payload deduplication have a state.
	Afresh bool `json:"afresh,omitempty"`
	// Earlier names the list of what the archive holds of each URL from before this pass; nil in the first pass.
	Earlier *capture.IndexCheckpoint `json:"earlier,omitempty"`
	// NotBefore is when the first request may be made. After a rebuild it is not known which servers got a request
	// last, and a new pass knows no addresses.
	NotBefore time.Time `json:"not_before,omitzero"`
	// UncleanResume is when a run last resumed a crawl that had not ended in order: any site may have been asked then.
	UncleanResume time.Time `json:"unclean_resume,omitzero"`

	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	RSSPeak     int64   `json:"rss_peak_bytes"`

	Sieve    sieve.Checkpoint         `json:"sieve"`
	Ready    diskq.Checkpoint         `json:"ready"`
	Urgent   *diskq.Checkpoint        `json:"urgent,omitempty"` // the ready URLs that come first; nil before format 9
	Virt     virtualize.Checkpoint    `json:"virtualize"`
	Seen     dedup.Checkpoint         `json:"seen"`
	Near     *dedup.Checkpoint        `json:"near,omitempty"` // texts of pages; nil without --near-duplicates
	Bench    Chain                    `json:"bench"`
	Cold     cold.Checkpoint          `json:"cold"`
	Archive  *warc.Checkpoint         `json:"archive"`
	Counters counters.Totals          `json:"counters"`
	Sums     map[string]float64       `json:"sums,omitempty"`    // counters.Sums; nil without --stat and --hook
	Peers    *cluster.Checkpoint      `json:"peers,omitempty"`   // nil for a crawl alone
	Novelty  []byte                   `json:"novelty,omitempty"` // the state of package novelty: which URLs are delayed
	Order    []byte                   `json:"order,omitempty"`   // the state of engine/frontier/order: weights of domains
	Skipped  *traps.SkippedCheckpoint `json:"skipped,omitempty"` // the list of URLs left out; nil before there was one
	Log      *crawllog.Checkpoint     `json:"log,omitempty"`     // nil before version 0.2
}

// The number of the format in the first line. A version that reads a number refuses higher ones by name, so it grows
// with each change that an earlier version would misread. Open writes a manifest before anything else of the frontier
// is written, so a directory of a former version has the new number from then on.
//
//   - 4 to 6: without passes, with passes, with other agents.
//   - 7: any of these; the journal has sync marks. A version that reads 6 takes a mark for a torn entry, and would
//     fetch and store again all that follows it.
//   - 8: page requisites. A version that reads 7 would take them for pages, and cannot read the journal.
//   - 9: two ready queues. A version that reads 8 would lose the URLs of the one for page requisites.
//   - 10: surplus requisites have a queue of their own. A version that reads 9 would lose them.
//   - 11: ready URLs have classes (--visit). A version that reads 10 would not find those of a class.
//   - 12: the journal has sums (--stat). A version that reads 11 takes such an entry for a torn one.
const magic = "orbweaver-manifest 12"

// earlierMagics are the formats that are read and not written.
func earlierMagics() []string {
	return []string{
		"orbweaver-manifest 4", "orbweaver-manifest 5", "orbweaver-manifest 6", "orbweaver-manifest 7",
		"orbweaver-manifest 8", "orbweaver-manifest 9", "orbweaver-manifest 10", "orbweaver-manifest 11",
	}
}

// ReadyQueue is the part of the ready queue.
func (m *Manifest) ReadyQueue() *queued.ReadyCheckpoint {
	return &queued.ReadyCheckpoint{Urgent: m.Urgent, Others: m.Ready}
}

// FirstRequest is the time before which no request may be made. delay is the longest delay of sites in general, and
// crawlDelayMax that of sites with a Crawl-delay: no wait is longer, though the clock was set back while the crawl ran.
func (m *Manifest) FirstRequest(delay, crawlDelayMax time.Duration, now time.Time) time.Time {
	first := m.UncleanResume.Add(delay)
	if m.NotBefore.After(first) {
		first = m.NotBefore
	}
	if last := now.Add(max(delay, crawlDelayMax)); first.After(last) {
		return last
	}
	return first
}

// StoreID is the number of the data in this directory.
func (m *Manifest) StoreID() uint64 {
	if m.Store != 0 {
		return m.Store
	}
	return xxh3.HashString(m.CrawlID)
}

// New is the manifest of a crawl that begins.
func New() (*Manifest, error) {
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return &Manifest{
		CrawlID: hex.EncodeToString(b[:16]), HashSeed: binary.LittleEndian.Uint64(b[16:]),
		Created: time.Now(), State: lifecycle.Running, Clean: true, Resumed: -1,
	}, nil
}

// Clocks is what the clocks showed when it was written.
func (m *Manifest) Clocks() lifecycle.ClockReading {
	return lifecycle.ClockReading{Written: m.Written, Boot: m.Boot, Up: m.Up}
}

// Usage is what all runs had used when it was written.
func (m *Manifest) Usage() lifecycle.Usage {
	return lifecycle.Usage{
		Wall: time.Duration(m.WallSeconds * float64(time.Second)), CPU: time.Duration(m.CPUSeconds * float64(time.Second)),
		RSSPeak: m.RSSPeak,
	}
}

// SetUsage notes what all runs have used.
func (m *Manifest) SetUsage(u lifecycle.Usage) {
	m.WallSeconds, m.CPUSeconds, m.RSSPeak = u.Wall.Seconds(), u.CPU.Seconds(), u.RSSPeak
}

// ErrVersion says that the crawl directory was written by a version whose format this one does not read.
var ErrVersion = errors.New("manifest: crawl directory of another format version")

// ErrDamaged says that the manifest is damaged.
var ErrDamaged = errors.New("manifest: damaged manifest")

// Path is the name of the manifest in a frontier directory.
func Path(dir string) string { return dir + "/MANIFEST" }

// Read returns nil without an error when there is none.
func Read(fsys vfs.FS, dir string) (*Manifest, error) {
	b, err := vfs.ReadFile(fsys, Path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no manifest is an ordinary answer
	}
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Path(dir), err)
	}
	return m, nil
}

// Parse reads the bytes of a manifest.
func Parse(b []byte) (*Manifest, error) {
	head, body, _ := strings.Cut(string(b), "\n")
	sum, ok := strings.CutPrefix(head, magic+" ")
	for _, magic := range earlierMagics() {
		if !ok {
			sum, ok = strings.CutPrefix(head, magic+" ")
		}
	}
	if !ok {
		if strings.HasPrefix(head, "orbweaver-manifest ") {
			return nil, fmt.Errorf("%w: %q; use the version that made it", ErrVersion, head)
		}
		return nil, fmt.Errorf("%w: it does not begin as one", ErrDamaged)
	}
	if want := fmt.Sprintf("%08x", crc32.Checksum([]byte(body), journal.Castagnoli())); sum != want {
		return nil, fmt.Errorf("%w: checksum %s, content has %s", ErrDamaged, sum, want)
	}
	m := new(Manifest)
	if err := json.Unmarshal([]byte(body), m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, nil
}

// Write replaces the manifest in a frontier directory in one step.
func Write(fsys vfs.FS, dir string, m *Manifest) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	err = vfs.WriteAtomic(fsys, Path(dir), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %08x\n%s", magic, crc32.Checksum(body, journal.Castagnoli()), body)
		return err
	})
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return nil
}

// Chain is the workbench on disk: a whole image, and the changes since, in order.
type Chain []ChainFile

// ChainFile is one file of it: see WorkbenchPath.
type ChainFile struct {
	Generation uint64 `json:"generation"`
	Length     int64  `json:"length"`
}

// chainMax bounds how many files a resume reads.
const chainMax = 128

// NeedsImage reports whether the next file must be a whole image: there is none, or the changes have become as large as
// the image that they change.
func (c Chain) NeedsImage() bool {
	if len(c) == 0 || len(c) >= chainMax {
		return true
	}
	changes := int64(0)
	for _, f := range c[1:] {
		changes += f.Length
	}
	return changes >= c[0].Length
}

// Names reports whether a file of the chain has this generation.
func (c Chain) Names(generation uint64) bool {
	return slices.ContainsFunc(c, func(f ChainFile) bool { return f.Generation == generation })
}

// Last is the generation of the youngest file; 0 if there is none.
func (c Chain) Last() uint64 {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].Generation
}

// WorkbenchPath is a file of the workbench that a checkpoint wrote.
func WorkbenchPath(dir string, generation uint64) string {
	return fmt.Sprintf("%s/bench-%08d", dir, generation)
}

// InFlightPath is the list of the URLs that were in flight at a checkpoint.
func InFlightPath(dir string, generation uint64) string {
	return fmt.Sprintf("%s/aloft-%08d", dir, generation)
}

// OutboxPath holds the messages to other agents that the queues of the outbox do not hold.
func OutboxPath(dir string, generation uint64) string {
	return fmt.Sprintf("%s/outbox-%08d", dir, generation)
}

// CachePath is the fingerprint cache of an orderly stop.
func CachePath(dir string) string { return dir + "/cache" }
