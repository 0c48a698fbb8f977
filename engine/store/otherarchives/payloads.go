package otherarchives

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// Options name the other archives.
type Options struct {
	From   []string      `name:"dedup-from" help:"Archive of another crawl: a crawl directory, a directory of WARC files with their indexes, or a CDXJ file (repeatable). A payload that is stored there becomes a revisit record here, so keep that archive." placeholder:"FILE|DIR" sep:"none"`
	MaxAge time.Duration `name:"dedup-max-age" help:"With --dedup-from: payloads that were captured longer ago are stored again. 0 means any age." default:"0s" placeholder:"TIME"`

	Dir         string `kong:"-"` // for the files of the package
	MemoryBytes int64  `kong:"-"` // see dedup.Options
}

// Original is the record of another archive that has a payload.
type Original struct {
	dedup.First

	File   string // WARC file, without directory
	Offset int64  // of the record in it, in bytes
	Agent  string // that has the archive, if it is an agent of the same crawl
}

// IsNone reports whether it is the zero value, which names no record.
func (o *Original) IsNone() bool { return o.File == "" }

// Fields of a revisit record that say in which other archive the payload is. The standard does not have them; warcio
// and OpenWayback know them.
const (
	RefersToFile   = "WARC-Refers-To-Filename"
	RefersToOffset = "WARC-Refers-To-File-Offset"
)

// RefersToAgent is our own field: the agent of the same crawl that has the archive.
const RefersToAgent = "Orbweaver-Refers-To-Agent"

// Fields say where the payload is.
func (o *Original) Fields() []warc.Field {
	fields := []warc.Field{
		{Name: RefersToFile, Value: o.File},
		{Name: RefersToOffset, Value: strconv.FormatInt(o.Offset, 10)},
	}
	if o.Agent != "" {
		fields = append(fields, warc.Field{Name: RefersToAgent, Value: o.Agent})
	}
	return fields
}

// Payloads are those of the other archives.
type Payloads struct {
	o     Options
	fsys  vfs.FS
	log   *slog.Logger
	known *dedup.Map

	sources []source          // that were read, sorted; of Open and Refresh
	numbers map[string]uint32 // of files, by the directory of the index and the name; of Open and Refresh

	mu         sync.Mutex
	files      []file       // guarded by mu
	unreadable throttle.Log // guarded by mu
}

// file is a WARC file that an index names.
type file struct {
	Name  string `json:"name"`
	Index string `json:"index"` // directory of the index, with a slash at its end
	Path  string `json:"path"`  // "" if only its index was given
}

// fileOf returns the file with a number.
func (p *Payloads) fileOf(number uint32) (f file, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if int(number) >= len(p.files) {
		return f, fmt.Errorf("otherarchives: %w: file %d", vfs.ErrCorrupt, number)
	}
	return p.files[number], nil
}

// Lookup finds a payload that is not older than it may be at this time. ok is false if there is none. An error is that
// of the crawl's own disk.
func (p *Payloads) Lookup(digest dedup.Digest, now time.Time) (found Original, ok bool, err error) {
	first, ok, err := p.known.Lookup(digest)
	if err != nil || !ok {
		return found, false, err
	}
	in, err := p.fileOf(binary.LittleEndian.Uint32(first.RecordID[:]))
	if err != nil {
		return found, false, err
	}
	found = Original{
		First: dedup.First{URI: first.URI, Date: first.Date}, File: in.Name,
		Offset: int64(binary.LittleEndian.Uint64(first.RecordID[4:])),
	}
	if p.o.MaxAge > 0 && now.Sub(first.Date) > p.o.MaxAge {
		return Original{}, false, nil
	}
	if in.Path != "" {
		// A file that was sent and removed was proved to be in its object store: its index is believed.
		if err := p.verify(&found, in.Path, digest); err != nil && !errors.Is(err, vfs.ErrElsewhere) {
			p.warn(&found, err)
			return Original{}, false, nil
		}
	}
	return found, true, nil
}

// errOther says that the record is not the one of the index.
var errOther = errors.New("it is not the record of its index")

// verify reads the head of a record, and takes its identity and its exact date.
func (p *Payloads) verify(o *Original, path string, digest dedup.Digest) error {
	from, err := p.fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // opened for reading
	words, _, err := member.ReadDictionary(from)
	if err != nil {
		return err
	}
	z := warc.NewReader(io.NewSectionReader(from, o.Offset, math.MaxInt64-o.Offset), warc.ReaderOptions{
		Name: o.File, Base: o.Offset, Dictionary: words,
	})
	defer z.Close()
	rec, err := z.Next()
	if err != nil {
		return err
	}
	if !isOriginal(rec, digest) {
		return errOther
	}
	o.RecordID, o.URI, o.Date = rec.ID, string(rec.TargetURI), rec.Date
	return nil
}

// warn logs that a record cannot be used, at most one per throttle.Every.
func (p *Payloads) warn(o *Original, err error) {
	p.mu.Lock()
	n, ok := p.unreadable.Allow(time.Now())
	p.mu.Unlock()
	if ok {
		p.log.Warn("a record of another archive (--dedup-from) cannot be read; its payload is stored again",
			"file", o.File, "offset", o.Offset, "error", err, "times", n)
	}
}

// Len returns the number of payloads.
func (p *Payloads) Len() uint64 { return p.known.Len() }

// Close closes the files.
func (p *Payloads) Close() error { return p.known.Close() }

// None are the payloads of a crawl without other archives.
type None struct{}

// Refresh does nothing.
func (None) Refresh() error { return nil }

// Lookup finds nothing.
func (None) Lookup(dedup.Digest, time.Time) (o Original, ok bool, err error) { return o, false, nil }
