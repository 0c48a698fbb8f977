package otherarchives

import (
	"bufio"
	"compress/gzip"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// ErrNoIndex says that what --dedup-from names has no index of an archive.
var ErrNoIndex = errors.New("no CDXJ index: write it with orbweaver warc index --write")

// source is an index file.
type source struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// saved is what the map was made of.
type saved struct {
	Form    int              `json:"form"`
	MaxAge  time.Duration    `json:"max_age"`
	Sources []source         `json:"sources"`
	Files   []file           `json:"files"`
	Map     dedup.Checkpoint `json:"map"`
}

const (
	savedForm = 2
	savedFile = "sources.json"
)

// Open opens the payloads of the archives that o names, at least one. It reads their indexes if they
// are not those of the last time, which takes about two seconds for a million captures.
func Open(fsys vfs.FS, o Options, log *slog.Logger) (*Payloads, error) {
	sources, err := findSources(fsys, o.From)
	if err != nil {
		return nil, fmt.Errorf("--dedup-from: %w", err)
	}
	p := &Payloads{o: o, fsys: fsys, log: log, numbers: map[string]uint32{}}
	if err := p.open(sources); err != nil {
		return nil, err
	}
	if err := p.add(sources); err != nil {
		return nil, errors.Join(err, p.known.Close())
	}
	return p, nil
}

// Check returns what Open would refuse because it does not find an archive or its indexes. Their lines are not read.
func Check(fsys vfs.FS, from []string) error {
	if _, err := findSources(fsys, from); err != nil {
		return fmt.Errorf("--dedup-from: %w", err)
	}
	return nil
}

// open opens the map: what was read before of these sources, or an empty one.
func (p *Payloads) open(sources []source) (err error) {
	maps := dedup.Options{Dir: p.o.Dir + "/map", MemoryBytes: p.o.MemoryBytes}
	if was, err := p.load(); err == nil && was.MaxAge == p.o.MaxAge && isSubset(was.Sources, sources) {
		if p.known, err = dedup.Open(p.fsys, maps, &was.Map); err == nil {
			p.begin(was)
			return nil
		}
	}
	p.known, err = dedup.Open(p.fsys, maps, nil)
	return err
}

// isSubset reports whether all of some sources are still there, and not changed. Both are sorted.
func isSubset(some, all []source) bool {
	return !slices.ContainsFunc(some, func(s source) bool {
		at, found := slices.BinarySearchFunc(all, s, bySourcePath)
		return !found || all[at] != s
	})
}

// begin takes what was read before.
func (p *Payloads) begin(was saved) {
	p.sources, p.files = was.Sources, was.Files
	for i, f := range p.files {
		p.numbers[f.Index+f.Name] = uint32(i)
	}
}

// Refresh reads indexes that were added to the archives. One caller at a time.
func (p *Payloads) Refresh() error {
	sources, err := findSources(p.fsys, p.o.From)
	if err != nil {
		p.warnSources(err)
		return nil
	}
	err = p.add(sources)
	if own := new(ownError); err != nil && !errors.As(err, &own) {
		p.warnSources(err)
		return nil
	}
	return err
}

func (p *Payloads) warnSources(err error) {
	p.log.Warn("an archive of another crawl (--dedup-from) cannot be read now; what is known of it still counts",
		"error", err)
}

// ownError is an error of the crawl's own disk.
type ownError struct{ error }

// Unwrap returns the error of the disk.
func (e *ownError) Unwrap() error { return e.error }

// ownFault makes an ownError of an error.
func ownFault(err error) error {
	if err == nil {
		return nil
	}
	return &ownError{err}
}

// load reads what the map was made of.
func (p *Payloads) load() (s saved, err error) {
	text, err := vfs.ReadFile(p.fsys, p.o.Dir+"/"+savedFile)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Form != savedForm {
		return s, vfs.ErrCorrupt
	}
	return s, nil
}

// findSources returns the index files of all archives, sorted.
func findSources(fsys vfs.FS, from []string) (sources []source, err error) {
	for _, name := range from {
		paths, err := indexesOf(fsys, strings.TrimSuffix(name, "/"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range paths {
			size, err := fsys.Size(p)
			if err != nil {
				return nil, err
			}
			sources = append(sources, source{p, size})
		}
	}
	slices.SortFunc(sources, bySourcePath)
	return slices.Compact(sources), nil
}

func bySourcePath(a, b source) int { return strings.Compare(a.Path, b.Path) }

// indexesOf returns the indexes of a directory, the one beside an archive file, or the file itself.
func indexesOf(fsys vfs.FS, name string) (paths []string, err error) {
	if isIndex(name) {
		return []string{name}, nil
	}
	dir, err := lookup.FindDir(fsys, name)
	if err != nil {
		dir = name // perhaps there are indexes alone
	}
	names, err := fsys.List(dir)
	if _, noFile := fsys.Size(name); err != nil && noFile == nil { // a WARC or WACZ file
		if _, err := fsys.Size(warc.IndexName(name)); err == nil {
			return []string{warc.IndexName(name)}, nil
		}
		return nil, ErrNoIndex
	}
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if isIndex(n) {
			paths = append(paths, path.Join(dir, n))
		}
	}
	if len(paths) == 0 && !isCrawl(fsys, name) {
		return nil, ErrNoIndex
	}
	return paths, nil
}

// isCrawl reports whether a directory is that of a crawl, which may have no complete WARC file yet.
func isCrawl(fsys vfs.FS, dir string) bool {
	_, err := fsys.Size(dir + "/" + layout.ManifestFile)
	return err == nil
}

// isIndex tells an index by its name.
func isIndex(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	return strings.HasSuffix(name, ".cdxj") || strings.HasSuffix(name, ".cdx")
}

// add reads those of the indexes that were not read before.
func (p *Payloads) add(sources []source) error {
	began := time.Now()
	reading := indexReading{Payloads: p}
	if p.o.MaxAge > 0 {
		reading.oldest = began.Add(-p.o.MaxAge)
	}
	added := slices.DeleteFunc(slices.Clone(sources), func(s source) bool {
		return slices.ContainsFunc(p.sources, func(known source) bool { return known.Path == s.Path })
	})
	if len(added) == 0 {
		return nil
	}
	for _, s := range added {
		if err := reading.read(s.Path); err != nil {
			return fmt.Errorf("--dedup-from: %s: %w", s.Path, err)
		}
	}
	p.sources = append(p.sources, added...)
	slices.SortFunc(p.sources, bySourcePath)
	if reading.damaged > 0 {
		p.log.Warn("lines of indexes of other archives (--dedup-from) cannot be read and are left out",
			"lines", reading.damaged, "first", reading.first)
	}
	p.log.Info("indexes of other archives were read (--dedup-from)", "indexes", len(added),
		"payloads", p.known.Len(), "seconds", int(time.Since(began).Seconds()))
	return ownFault(p.save())
}

// save makes durable what was read.
func (p *Payloads) save() error {
	checkpoint, err := p.known.Checkpoint()
	if err == nil {
		err = p.known.Sync()
	}
	if err != nil {
		return err
	}
	s := saved{Form: savedForm, MaxAge: p.o.MaxAge, Sources: p.sources, Files: p.files, Map: checkpoint}
	err = vfs.WriteAtomic(p.fsys, p.o.Dir+"/"+savedFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
	if err != nil {
		return err
	}
	return p.known.Release(checkpoint)
}

// indexReading reads indexes into the map.
type indexReading struct {
	*Payloads

	oldest  time.Time
	dir     string // of the index
	damaged int64
	first   string // of the damaged lines: index, number and reason
}

func (r *indexReading) read(name string) (err error) {
	from, err := r.fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // opened for reading
	size, err := from.Size()
	if err != nil {
		return err
	}
	var in io.Reader = io.NewSectionReader(from, 0, size)
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(bufio.NewReaderSize(in, 256<<10)); err != nil {
			return err
		}
	}
	r.dir = path.Dir(name)
	return cdxj.ScanLines(in, func(_ []byte, said *cdxj.Line, damage error) error {
		if damage != nil {
			if r.damaged++; r.damaged == 1 {
				r.first = fmt.Sprintf("%s: %v", name, damage)
			}
			return nil
		}
		return r.add(said)
	})
}

// add adds the payload of a line, if it has one that may be used.
func (r *indexReading) add(said *cdxj.Line) error {
	var digest dedup.Digest
	if said.Revisit || said.Status == 0 || len(said.File) == 0 || len(said.URL) > dedup.URIBytesMax ||
		!parseDigest(&digest, said.Digest) {
		return nil
	}
	at, err := lookup.ParseTime(string(said.Stamp))
	if err != nil || at.Before(r.oldest) {
		return nil //nolint:nilerr // without a date it cannot be named
	}
	first := dedup.First{URI: string(said.URL), Date: at}
	binary.LittleEndian.PutUint32(first.RecordID[:], r.numberOf(string(said.File)))
	binary.LittleEndian.PutUint64(first.RecordID[4:], uint64(said.Offset))
	if _, _, err := r.known.Insert(digest, first); err != nil {
		return ownFault(err)
	}
	return ownFault(r.known.Tend())
}

// numberOf returns the number of a WARC file, which may lie beside the index.
func (r *indexReading) numberOf(name string) uint32 {
	f := file{Name: path.Base(name), Index: r.dir + "/", Path: path.Join(r.dir, name)}
	if n, ok := r.numbers[f.Index+f.Name]; ok {
		return n
	}
	if _, err := r.fsys.Size(f.Path); errors.Is(err, fs.ErrNotExist) {
		f.Path = ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := uint32(len(r.files))
	r.numbers[f.Index+f.Name] = n
	r.files = append(r.files, f)
	return n
}

// parseDigest reads a SHA-1 in base32, with or without its label.
func parseDigest(dst *dedup.Digest, text []byte) bool {
	const label = "sha1:"
	if len(text) > len(label) && strings.EqualFold(string(text[:len(label)]), label) {
		text = text[len(label):]
	}
	if base32.StdEncoding.DecodedLen(len(text)) != len(dst) {
		return false
	}
	n, err := base32.StdEncoding.Decode(dst[:], text)
	return err == nil && n == len(dst)
}
