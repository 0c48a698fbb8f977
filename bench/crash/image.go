package crash

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/simweb"
	"orbweaver/internal/vfs"
)

// pageBytes is the unit in which images share their content.
const pageBytes = 4096

// pages holds what images are made of, each different page once. Safe for concurrent use.
type pages struct {
	mu   sync.Mutex
	byID map[xxh3.Uint128][]byte
}

func newPages() *pages { return &pages{byID: map[xxh3.Uint128][]byte{}} }

// intern returns the one copy of a page; nil stands for zeros.
func (p *pages) intern(b []byte) []byte {
	b = bytes.TrimRight(b, "\x00")
	if len(b) == 0 {
		return nil
	}
	id := xxh3.Hash128(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[id] == nil {
		p.byID[id] = bytes.Clone(b)
	}
	return p.byID[id]
}

// fileImage is one file: its pages without their trailing zeros.
type fileImage struct {
	Name  string
	Size  int64
	Pages [][]byte
}

// Image is a disk as a crash may leave it, with all that must be known to go on from there: when it was, and what the
// web had been asked by then.
type Image struct {
	Seed    uint64
	Story   string // which point and variant; for a crash after a crash, those before it, too
	Kind    Kind
	When    time.Time
	Bound   int // how many pages may be fetched again, all crashes so far together
	Dirs    []string
	Files   []fileImage
	LogText []byte // of Log, when saved

	log      *simweb.Log
	arrivals int // of the log, at the crash
	lost     int // of these, how many of the last the crawl may know nothing of
	digest   xxh3.Uint128
}

// photograph makes an image of a disk.
func photograph(p *pages, disk *vfs.Mem) (*Image, error) {
	im := &Image{}
	h := xxh3.New()
	var walk func(dir string) error
	walk = func(dir string) error {
		im.Dirs = append(im.Dirs, dir)
		names, err := disk.List(dir)
		if err != nil {
			return err
		}
		for _, base := range names {
			name := path.Join(dir, base)
			if _, err := disk.List(name); err == nil {
				if err := walk(name); err != nil {
					return err
				}
				continue
			}
			f, err := photographFile(p, h, disk, name)
			if err != nil {
				return err
			}
			im.Files = append(im.Files, f)
		}
		return nil
	}
	if err := walk("."); err != nil {
		return nil, err
	}
	im.digest = h.Sum128()
	return im, nil
}

func photographFile(p *pages, h *xxh3.Hasher, disk *vfs.Mem, name string) (fileImage, error) {
	b, err := vfs.ReadFile(disk, name)
	if err != nil {
		return fileImage{}, err
	}
	f := fileImage{Name: name, Size: int64(len(b))}
	_, _ = h.WriteString(name) // a hash does not fail
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
	for len(b) > 0 {
		n := min(len(b), pageBytes)
		page := p.intern(b[:n])
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, xxh3.Hash(page)))
		f.Pages = append(f.Pages, page)
		b = b[n:]
	}
	return f, nil
}

// disk makes the disk again; all that is on it is durable.
func (im *Image) disk(seed uint64) (*vfs.Mem, error) {
	m := vfs.NewMem(seed)
	for _, dir := range im.Dirs {
		if err := m.MkdirAll(dir); err != nil {
			return nil, err
		}
	}
	for i := range im.Files {
		if err := im.Files[i].restore(m); err != nil {
			return nil, err
		}
	}
	return m.KillClone(), nil
}

func (f *fileImage) restore(m *vfs.Mem) error {
	out, err := m.Create(f.Name)
	if err != nil {
		return err
	}
	if err := out.Truncate(f.Size); err != nil {
		return errors.Join(err, out.Close())
	}
	for i, page := range f.Pages {
		if _, err := out.WriteAt(page, int64(i)*pageBytes); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}

// save puts the image into a file of the real disk, for replaying it.
func (im *Image) save(dir string) (string, error) {
	var text bytes.Buffer
	if _, err := im.log.Write(&text, 0); err != nil {
		return "", err
	}
	saved := *im
	saved.LogText = text.Bytes()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := filepath.Join(dir, fmt.Sprintf("seed%d-%016x.image", im.Seed, im.digest.Hi))
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(&saved); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, out.Bytes(), 0o600)
}

// loadImage reads what save wrote, for a world.
func loadImage(name string, world func(seed uint64) (*simweb.World, error)) (*Image, *simweb.World, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	im := new(Image)
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(im); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	w, err := world(im.Seed)
	if err != nil {
		return nil, nil, err
	}
	im.log, err = w.ReadLog(bytes.NewReader(im.LogText))
	return im, w, err
}
