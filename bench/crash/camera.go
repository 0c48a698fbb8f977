package crash

import (
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"orbweaver/bench/simweb/arrivals"
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

// camera watches a disk through a tap: it numbers the calls of each class, and takes images around those that it is
// told to.
type camera struct {
	seed    uint64
	album   *album
	pick    func(class string, n int) bool
	variant Variant // if not empty, only this one
	past    *Image  // what the crawl goes on from, if it was killed before
	bound   int     // Pages that can be in flight

	tap    *tap
	dirs   []string // of the crawl; of several agents each has one
	log    *arrivals.Log
	rng    *rand.Rand
	counts map[string]int // calls by class
	images []*Image
	err    error

	point string         // of the call under way, if it was picked
	loose map[string]int // files of archive and journal, and names in the archive, that are not synced: arrivals when the first change since was made

	mu    sync.Mutex
	sloth *rand.Rand // how long syncs take; guarded by mu
}

const (
	syncMax = 400 * time.Millisecond // the longest that a sync takes: longer than the time between two group commits
	mixes   = 2                      // how often the dice are thrown for what survives a power cut
)

// newCamera makes a camera for a crawl with so many Pages in flight at most that puts its pages into an album; one that
// picks nothing needs none.
func newCamera(seed uint64, bound int, a *album, pick func(class string, n int) bool) *camera {
	return &camera{
		seed: seed, bound: bound, album: a, pick: pick, counts: map[string]int{}, loose: map[string]int{},
		rng: rand.New(rand.NewPCG(seed, 4)), sloth: rand.New(rand.NewPCG(seed, 5)),
	}
}

// watch gives the disk on which a crawl into dirs is to work. The log is that of the web it crawls.
func (c *camera) watch(disk *vfs.Mem, log *arrivals.Log, dirs ...string) vfs.FS {
	c.log, c.dirs = log, dirs
	c.tap = &tap{disk: disk, before: c.atStart, after: c.atEnd, pause: c.pause}
	return c.tap
}

// kind is the kind of a file, whosever it is.
func (c *camera) kind(name string) string {
	for _, dir := range c.dirs {
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
func (c *camera) pause(op *operation) time.Duration {
	if !op.kind.syncs() || !slow(c.kind(op.name)) {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.sloth.Int64N(int64(syncMax)) * c.sloth.Int64N(int64(syncMax)) / int64(syncMax))
}

// class names a point of the program: what is done, to which kind of file, by which function.
func (c *camera) class(op *operation) string {
	return string(op.kind) + " " + c.kind(op.name) + " " + callSite()
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

func (c *camera) atStart(op *operation) {
	class := c.class(op)
	c.counts[class]++
	c.point = ""
	if c.pick(class, c.counts[class]) {
		c.point = fmt.Sprintf("%s #%d", class, c.counts[class])
	}
	if c.point == "" {
		return
	}
	if c.wants(Before) {
		c.take(Before, op, c.tap.disk.KillClone())
	}
	if c.wants(Torn) {
		if d := c.tear(op); d != nil {
			c.take(Torn, op, d)
		}
	}
	if op.kind.syncs() {
		c.powerCuts(op)
	}
}

func (c *camera) atEnd(op *operation) {
	c.note(op)
	if c.point == "" {
		return
	}
	disk := c.tap.disk
	if c.wants(After) {
		c.take(After, op, disk.KillClone())
	}
	if op.kind.syncs() {
		if c.wants(Synced) {
			c.take(Synced, op, disk.LostClone(0))
		}
		return
	}
	c.powerCuts(op)
	if c.wants(Alone) {
		switch op.kind {
		case Create, Rename, Remove:
			c.take(Alone, op, disk.LostClone(1))
		case Write:
			d := disk.LostClone(0)
			if overwrite(d, op, len(op.data)) {
				c.take(Alone, op, d)
			}
		}
	}
}

// note keeps account of what a power cut may take: from a change of archive or journal until its sync.
func (c *camera) note(op *operation) {
	name, journal := op.name, c.kind(op.name) == "frontier/journal-*"
	if !journal && !strings.HasPrefix(c.kind(name), "warc") {
		return
	}
	switch op.kind {
	case Sync, SyncDir, Rename, Remove: // what gets its final name was synced before
		delete(c.loose, name)
		return
	case Create: // its name is durable when its directory is: the journal sees to that before it is used
		if journal {
			return
		}
		name = path.Dir(name)
	case Write, Truncate, Allocate, MapSync, Mkdir:
	}
	if _, known := c.loose[name]; !known {
		c.loose[name] = c.log.Len()
	}
}

// durable is how many arrivals had been made when all was written that no power cut can take.
func (c *camera) durable() int {
	n := c.log.Len()
	for _, since := range c.loose {
		n = min(n, since)
	}
	return n
}

func (c *camera) wants(v Variant) bool { return c.variant == "" || c.variant == v }

func (c *camera) powerCuts(op *operation) {
	if c.wants(Lost) {
		c.take(Lost, op, c.tap.disk.LostClone(0))
	}
	if c.wants(Mixed) {
		for range mixes {
			c.take(Mixed, op, c.tap.disk.CrashClone(c.rng))
		}
	}
}

// tear gives the disk with half of the call done, nil for calls that have no half.
func (c *camera) tear(op *operation) *vfs.Mem {
	switch {
	case op.kind == Write && len(op.data) > 1:
		d := c.tap.disk.KillClone()
		if overwrite(d, op, 1+c.rng.IntN(len(op.data)-1)) {
			return d
		}
	case op.kind == Allocate && op.size > op.offset+1:
		d := c.tap.disk.KillClone()
		if f, err := d.OpenRW(op.name); err == nil {
			if f.Truncate(op.offset+1+c.rng.Int64N(op.size-op.offset-1)) == nil && f.Close() == nil {
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

// take puts an image of a disk into the album, if there is none like it.
func (c *camera) take(v Variant, op *operation, disk *vfs.Mem) {
	im, err := photograph(c.album, disk)
	if err != nil {
		c.err = err
		return
	}
	class, _, _ := strings.Cut(c.point, " #")
	if !c.album.add(im, class) {
		return
	}
	im.Seed, im.Point, im.Variant, im.When, im.arrivals = c.seed, c.point, v, time.Now(), c.log.Len()
	im.lost = c.bound
	switch v {
	case Lost, Mixed, Alone, Synced:
		im.lost += im.arrivals - c.durable()
	case Before, Torn, After:
	}
	im.Bound = im.lost
	if c.past != nil {
		im.Past, im.Bound = c.past.Story()+"; then ", c.past.Bound+im.lost
	}
	c.images = append(c.images, im)
}

// develop gives each image the log of its moment, once the crawl has ended and the log is complete.
func (c *camera) develop() []*Image {
	for _, im := range c.images {
		im.log = c.log.At(im.arrivals, im.When, im.lost)
	}
	return c.images
}
