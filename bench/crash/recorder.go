package crash

import (
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/vfs"
)

// Variant is how the crash meets a call.
type Variant string

// The variants. Killed means that the process dies and all that it wrote stays, in the page cache; a power cut takes
// what was not synced, or some of it.
const (
	Before Variant = "before" // killed in front of the call
	Torn   Variant = "torn"   // killed in the middle: a part of a write is there
	After  Variant = "after"  // killed behind the call; the same is left by a power cut if all of it had been synced
	Lost   Variant = "lost"   // power cut behind the call (in front of it, if it is a sync): nothing unsynced is there
	Mixed  Variant = "mixed"  // the same, and any part of what was unsynced is there, in any order
	Alone  Variant = "alone"  // power cut behind the call: of what was unsynced, only this is there
	Synced Variant = "synced" // power cut behind a sync: nothing else that was unsynced is there
)

// Variants are all of them.
func Variants() []Variant { return []Variant{Before, Torn, After, Lost, Mixed, Alone, Synced} }

// recorder watches a disk through a tap. It numbers the calls of each class, and takes images around the calls that
// pick chooses.
type recorder struct {
	seed    uint64
	set     *imageSet
	pick    func(class string, n int) bool
	variant Variant // if not empty, only this one
	bound   int     // Pages that can be in flight

	earlierStory string // of the crashes before this crawl: "" or text that ends with "; then "
	earlierBound int    // pages that may be fetched again because of them

	tap    *tap
	dirs   []string // of the crawl; of several agents each has one
	log    *arrivals.Log
	rng    *rand.Rand
	counts map[string]int // calls by class
	images []*Image
	err    error

	point string // of the call under way, if it was picked
	// loose has the files of archive and journal, and names in the archive, that are not synced: how many arrivals there
	// were when the first change after the last sync was made.
	loose map[string]int

	mu         sync.Mutex
	syncDelays *rand.Rand // guarded by mu
}

const (
	syncMax = 400 * time.Millisecond // the longest that a sync takes: longer than the time between two group commits
	mixes   = 2                      // how often the dice are thrown for what survives a power cut
)

// newRecorder makes a recorder for a crawl that has at most bound Pages in flight. It adds its images to the set, which
// may be nil if pick chooses nothing.
func newRecorder(seed uint64, bound int, set *imageSet, pick func(class string, n int) bool) *recorder {
	return &recorder{
		seed: seed, bound: bound, set: set, pick: pick, counts: map[string]int{}, loose: map[string]int{},
		rng: rand.New(rand.NewPCG(seed, 4)), syncDelays: rand.New(rand.NewPCG(seed, 5)),
	}
}

// watch gives the disk on which a crawl into dirs is to work. The log is that of the web it crawls.
func (r *recorder) watch(disk *vfs.Mem, log *arrivals.Log, dirs ...string) vfs.FS {
	r.log, r.dirs = log, dirs
	r.tap = &tap{disk: disk, before: r.atStart, after: r.atEnd, pause: r.pause}
	return r.tap
}

// follow says that the crawl goes on from an image: the crash before this one.
func (r *recorder) follow(im *Image) {
	r.earlierStory, r.earlierBound = im.Story()+"; then ", im.Bound
}

// kind is the kind of a file of any agent.
func (r *recorder) kind(name string) string {
	for _, dir := range r.dirs {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return fileKind(dir, name)
		}
	}
	return fileKind("", name)
}

// slow tells the files that are synced without a lock that the crawl wants.
func slow(kind string) bool {
	switch kind {
	case "frontier/journal-*", "frontier/bench-*", "frontier/aloft-*", "frontier/MANIFEST.tmp", "frontier":
		return true
	}
	return false
}

// pause lets the syncs of journal and checkpoint take up to syncMax, and mostly much less. Virtual time stands still
// while a goroutine waits for a mutex, so calls under a lock that others want cannot be slow.
func (r *recorder) pause(op *operation) time.Duration {
	if !op.kind.syncs() || !slow(r.kind(op.name)) {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.syncDelays.Int64N(int64(syncMax)) * r.syncDelays.Int64N(int64(syncMax)) / int64(syncMax))
}

// class names a point of the program: what is done, to which kind of file, by which function.
func (r *recorder) class(op *operation) string {
	return string(op.kind) + " " + r.kind(op.name) + " " + callSite()
}

// callSite is the innermost function of the product that is on the stack, vfs left out.
func callSite() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, "orbweaver/")
		if ours && !strings.HasPrefix(name, "bench/crash.") && !strings.HasPrefix(name, "internal/vfs.") {
			name, _, _ = strings.Cut(name, ".func")
			return name
		}
		if !more {
			return "?"
		}
	}
}

func (r *recorder) atStart(op *operation) {
	class := r.class(op)
	r.counts[class]++
	r.point = ""
	if r.pick(class, r.counts[class]) {
		r.point = fmt.Sprintf("%s #%d", class, r.counts[class])
	}
	if r.point == "" {
		return
	}
	if r.wants(Before) {
		r.take(Before, op, r.tap.disk.KillClone())
	}
	if r.wants(Torn) {
		if d := r.tear(op); d != nil {
			r.take(Torn, op, d)
		}
	}
	if op.kind.syncs() {
		r.powerCuts(op)
	}
}

func (r *recorder) atEnd(op *operation) {
	r.note(op)
	if r.point == "" {
		return
	}
	disk := r.tap.disk
	if r.wants(After) {
		r.take(After, op, disk.KillClone())
	}
	if op.kind.syncs() {
		if r.wants(Synced) {
			r.take(Synced, op, disk.LostClone(0))
		}
		return
	}
	r.powerCuts(op)
	if r.wants(Alone) {
		switch op.kind {
		case Create, Rename, Remove:
			r.take(Alone, op, disk.LostClone(1))
		case Write:
			d := disk.LostClone(0)
			if overwrite(d, op, len(op.data)) {
				r.take(Alone, op, d)
			}
		}
	}
}

// note keeps account of what a power cut may take: from a change of archive or journal until its sync.
func (r *recorder) note(op *operation) {
	name, journal := op.name, r.kind(op.name) == "frontier/journal-*"
	if !journal && !strings.HasPrefix(r.kind(name), "warc") {
		return
	}
	switch op.kind {
	case Sync, SyncDir, Rename, Remove: // what gets its final name was synced before
		delete(r.loose, name)
		return
	case Create: // its name is durable when its directory is: the journal sees to that before it is used
		if journal {
			return
		}
		name = path.Dir(name)
	case Write, Truncate, Allocate, MapSync, Mkdir:
	}
	if _, known := r.loose[name]; !known {
		r.loose[name] = r.log.Len()
	}
}

// durable is how many arrivals had been made when all was written that no power cut can take.
func (r *recorder) durable() int {
	n := r.log.Len()
	for _, since := range r.loose {
		n = min(n, since)
	}
	return n
}

func (r *recorder) wants(v Variant) bool { return r.variant == "" || r.variant == v }

func (r *recorder) powerCuts(op *operation) {
	if r.wants(Lost) {
		r.take(Lost, op, r.tap.disk.LostClone(0))
	}
	if r.wants(Mixed) {
		for range mixes {
			r.take(Mixed, op, r.tap.disk.CrashClone(r.rng))
		}
	}
}

// tear gives the disk with half of the call done, nil for calls that have no half.
func (r *recorder) tear(op *operation) *vfs.Mem {
	switch {
	case op.kind == Write && len(op.data) > 1:
		d := r.tap.disk.KillClone()
		if overwrite(d, op, 1+r.rng.IntN(len(op.data)-1)) {
			return d
		}
	case op.kind == Allocate && op.size > op.offset+1:
		d := r.tap.disk.KillClone()
		if f, err := d.OpenRW(op.name); err == nil {
			if f.Truncate(op.offset+1+r.rng.Int64N(op.size-op.offset-1)) == nil && f.Close() == nil {
				return d
			}
		}
	}
	return nil
}

// overwrite makes the first n bytes of a write on another disk, if that has the file.
func overwrite(d *vfs.Mem, op *operation, n int) bool {
	if _, err := d.Size(op.name); err != nil {
		return false
	}
	f, err := d.OpenRW(op.name)
	if err != nil {
		return false
	}
	_, err = f.WriteAt(op.data[:n], op.offset)
	return err == nil && f.Close() == nil
}

// take adds an image of a disk to the set, if there is none like it.
func (r *recorder) take(v Variant, op *operation, disk *vfs.Mem) {
	im, err := takeImage(r.set, disk)
	if err != nil {
		r.err = err
		return
	}
	class, _, _ := strings.Cut(r.point, " #")
	if !r.set.add(im, class) {
		return
	}
	im.Seed, im.Point, im.Variant, im.When, im.arrivals = r.seed, r.point, v, time.Now(), r.log.Len()
	im.lost = r.bound
	switch v {
	case Lost, Mixed, Alone, Synced:
		im.lost += im.arrivals - r.durable()
	case Before, Torn, After:
	}
	im.Past, im.Bound = r.earlierStory, r.earlierBound+im.lost
	r.images = append(r.images, im)
}

// imagesWithLogs gives each image the log of its moment, once the crawl has ended and the log is complete.
func (r *recorder) imagesWithLogs() []*Image {
	for _, im := range r.images {
		im.log = r.log.At(im.arrivals, im.When, im.lost)
	}
	return r.images
}
