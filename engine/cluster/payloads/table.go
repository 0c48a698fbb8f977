package payloads

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/vfs"
)

// source is an agent whose list was read.
type source struct {
	Instance string `json:"instance"`
	Next     int64  `json:"next"` // where its list goes on
}

// saved is what is durable of a table.
type saved struct {
	Form    int              `json:"form"`
	Sources []source         `json:"sources"`
	Map     dedup.Checkpoint `json:"map"`
}

const (
	savedForm = 1
	savedFile = "sources.json"
	// sourcesMax is how many instances a table has. A rebuilt agent is another instance.
	sourcesMax = 4096
)

// errFull says that a table takes no more agents or digests.
var errFull = errors.New("payloads: the table is full")

// table has the digests of other agents: each leads to one agent that has the payload.
type table struct {
	fs    vfs.FS
	dir   string
	most  uint64 // digests
	known *dedup.Map

	mu      sync.Mutex
	sources []source // guarded by mu
}

// openTable opens what is durable of a table, or an empty one.
func openTable(fsys vfs.FS, dir string, memory int64) (*table, error) {
	const bitsPerDigest = 11 // of memory: see package dedup
	t := &table{fs: fsys, dir: dir, most: uint64(memory) * 8 / bitsPerDigest}
	o := dedup.Options{Dir: dir + "/map", MemoryBytes: memory}
	was, err := load(fsys, dir+"/"+savedFile)
	if err == nil {
		if t.known, err = dedup.Open(fsys, o, &was.Map); err == nil {
			t.sources = was.Sources
			return t, nil
		}
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, vfs.ErrCorrupt) {
		return nil, err
	}
	t.known, err = dedup.Open(fsys, o, nil)
	return t, err
}

// load reads what is durable of a table.
func load(fsys vfs.FS, name string) (s saved, err error) {
	text, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Form != savedForm {
		return s, vfs.ErrCorrupt
	}
	return s, nil
}

// source returns the number of an agent, and where its list goes on.
func (t *table) source(instance string) (number uint32, next int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.sources, func(s source) bool { return s.Instance == instance })
	switch {
	case i >= 0:
		return uint32(i), t.sources[i].Next, nil
	case len(t.sources) == sourcesMax:
		return 0, 0, errFull
	}
	t.sources = append(t.sources, source{Instance: instance})
	return uint32(len(t.sources) - 1), 0, nil
}

// add adds digests of an agent, and notes where its list goes on. A digest that leads to an agent already is left out.
func (t *table) add(number uint32, digests []byte, next int64) error {
	var by dedup.First
	binary.LittleEndian.PutUint32(by.RecordID[:], number)
	for digest := range slices.Chunk(digests, len(dedup.Digest{})) {
		if _, _, err := t.known.Insert(dedup.Digest(digest), by); err != nil {
			return err
		}
		if err := t.known.Tend(); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sources[number].Next = next
	return nil
}

// isFull says that no more digests are added.
func (t *table) isFull() bool { return t.known.Len() >= t.most }

// find returns the agent that has a payload, "" if none is known.
func (t *table) find(digest dedup.Digest) (instance string, err error) {
	by, ok, err := t.known.Lookup(digest)
	if err != nil || !ok {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if number := binary.LittleEndian.Uint32(by.RecordID[:]); int(number) < len(t.sources) {
		return t.sources[number].Instance, nil
	}
	return "", nil
}

// save makes the table durable.
func (t *table) save() error {
	t.mu.Lock()
	s := saved{Form: savedForm, Sources: slices.Clone(t.sources)}
	t.mu.Unlock()
	var err error
	if s.Map, err = t.known.Checkpoint(); err != nil {
		return err
	}
	if err := t.known.Sync(); err != nil {
		return err
	}
	err = vfs.WriteAtomic(t.fs, t.dir+"/"+savedFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(&s) })
	if err != nil {
		return err
	}
	return t.known.Release(s.Map)
}
