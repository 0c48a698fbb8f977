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

	"orbweaver/engine/dedup"
	"orbweaver/internal/vfs"
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
	savedForm = 1
	savedFile = "sources.json"
)

// Open opens the payloads of the archives that o names, at least one. It reads their indexes if they
// are not those of the last time, which takes about two seconds for a million captures.
func Open(fsys vfs.FS, o Options, log *slog.Logger) (*Payloads, error) {
	sources, err := findSources(fsys, o.From)
	if err != nil {
		return nil, fmt.Errorf("--dedup-from: %w", err)
	}
	p := &Payloads{o: o, fsys: fsys, log: log}
	maps := dedup.Options{Dir: o.Dir + "/map", MemoryBytes: o.MemoryBytes}
	if was, err := p.load(); err == nil && was.MaxAge == o.MaxAge && slices.Equal(was.Sources, sources) {
		if p.known, err = dedup.Open(fsys, maps, &was.Map); err == nil {
			p.files = was.Files
			return p, nil
		}
	}
	if p.known, err = dedup.Open(fsys, maps, nil); err != nil {
		return nil, err
	}
	if err := p.fill(sources); err != nil {
		return nil, errors.Join(err, p.known.Close())
	}
	return p, nil
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
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(sources), nil
}

// indexesOf returns the indexes of a directory, or the file itself.
func indexesOf(fsys vfs.FS, name string) (paths []string, err error) {
	if isIndex(name) {
		return []string{name}, nil
	}
	dir, err := lookup.FindDir(fsys, name)
	if err != nil {
		dir = name // perhaps there are indexes alone
	}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if isIndex(n) {
			paths = append(paths, path.Join(dir, n))
		}
	}
	if len(paths) == 0 {
		return nil, ErrNoIndex
	}
	return paths, nil
}

// isIndex tells an index by its name.
func isIndex(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	return strings.HasSuffix(name, ".cdxj") || strings.HasSuffix(name, ".cdx")
}

// fill reads the indexes into the empty map.
func (p *Payloads) fill(sources []source) error {
	began := time.Now()
	reading := indexReading{Payloads: p, numbers: map[string]uint32{}}
	if p.o.MaxAge > 0 {
		reading.oldest = began.Add(-p.o.MaxAge)
	}
	for _, s := range sources {
		if err := reading.read(s.Path); err != nil {
			return fmt.Errorf("--dedup-from: %s: %w", s.Path, err)
		}
	}
	checkpoint, err := p.known.Checkpoint()
	if err == nil {
		err = p.known.Sync()
	}
	if err == nil {
		err = p.known.Release(checkpoint)
	}
	if err != nil {
		return err
	}
	if reading.damaged > 0 {
		p.log.Warn("lines of indexes of other archives (--dedup-from) cannot be read and are left out",
			"lines", reading.damaged)
	}
	p.log.Info("the indexes of other archives were read (--dedup-from)", "indexes", len(sources),
		"payloads", p.known.Len(), "seconds", int(time.Since(began).Seconds()))
	s := saved{Form: savedForm, MaxAge: p.o.MaxAge, Sources: sources, Files: p.files, Map: checkpoint}
	return vfs.WriteAtomic(p.fsys, p.o.Dir+"/"+savedFile, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(s)
	})
}

// indexReading reads indexes into the map.
type indexReading struct {
	*Payloads

	oldest  time.Time
	dir     string            // of the index
	numbers map[string]uint32 // of the files, by path or else by name
	damaged int64
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
	return cdxj.ScanLines(in, func(line []byte, said *cdxj.Line, damage error) error {
		if damage != nil {
			r.damaged++
			return nil
		}
		return r.add(line, said)
	})
}

// add adds the payload of a line, if it has one that may be used.
func (r *indexReading) add(line []byte, said *cdxj.Line) error {
	var digest dedup.Digest
	if said.Revisit || said.Status == 0 || len(said.File) == 0 || len(said.URL) > dedup.URIBytesMax ||
		!parseDigest(&digest, said.Digest) {
		return nil
	}
	_, stamp := cdxj.Key(line)
	at, err := lookup.ParseTime(string(stamp))
	if err != nil || at.Before(r.oldest) {
		return nil //nolint:nilerr // without a date it cannot be named
	}
	first := dedup.First{URI: string(said.URL), Date: at}
	binary.LittleEndian.PutUint32(first.RecordID[:], r.numberOf(string(said.File)))
	binary.LittleEndian.PutUint64(first.RecordID[4:], uint64(said.Offset))
	if _, _, err := r.known.Insert(digest, first); err != nil {
		return err
	}
	return r.known.Tend()
}

// numberOf returns the number of a WARC file, which may lie beside the index.
func (r *indexReading) numberOf(name string) uint32 {
	f := file{Name: path.Base(name), Path: path.Join(r.dir, name)}
	if n, ok := r.numbers[f.Path]; ok {
		return n
	}
	n := uint32(len(r.files))
	r.numbers[f.Path] = n
	if _, err := r.fsys.Size(f.Path); errors.Is(err, fs.ErrNotExist) {
		f.Path = ""
	}
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
