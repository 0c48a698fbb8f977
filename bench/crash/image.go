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
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/vfs"
)

// pageBytes is the unit in which images share their content.
const pageBytes = 4096

// imageSet holds what images are made of, each different page once, and knows which images it has. Safe for concurrent
// use.
type imageSet struct {
	mu     sync.Mutex
	pages  map[xxh3.Uint128][]byte
	images map[xxh3.Uint128]*Image
}

func newImageSet() *imageSet {
	return &imageSet{pages: map[xxh3.Uint128][]byte{}, images: map[xxh3.Uint128]*Image{}}
}

// page returns the one copy of a page; nil stands for zeros.
func (a *imageSet) page(b []byte) []byte {
	b = bytes.TrimRight(b, "\x00")
	if len(b) == 0 {
		return nil
	}
	id := xxh3.Hash128(b)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pages[id] == nil {
		a.pages[id] = bytes.Clone(b)
	}
	return a.pages[id]
}

// add notes an image of a disk at a call of a class, and says whether it is new. One that is equal to an image of
// another class stands for that class, too.
func (a *imageSet) add(im *Image, class string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.images[im.digest]
	if known == nil {
		known = im
		a.images[im.digest] = im
	}
	if !slices.Contains(known.classes, class) {
		known.classes = append(known.classes, class)
	}
	return known == im
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
	Past    string // the story of the crash before this one, if there was one
	Point   string // class and number of the call
	Variant Variant
	When    time.Time
	Bound   int // how many pages may be fetched again, all crashes so far together
	Dirs    []string
	Files   []fileImage
	LogText []byte // of Log, when saved

	classes []string // of the calls that leave such a disk

	log      *arrivals.Log
	arrivals int // of the log, at the crash
	lost     int // of these, how many of the last the crawl may know nothing of
	digest   xxh3.Uint128
}

// Story says how the disk came to be as it is.
func (im *Image) Story() string { return im.Past + im.Point + ", " + string(im.Variant) }

// command is how to come to this point again, or nearly; "" where only the image itself leads there.
func (im *Image) command() string {
	if im.Past != "" {
		return ""
	}
	return fmt.Sprintf(
		"again: go test ./bench/crash -run 'TestHostile_S06_S07_aCrashAtAnyCallThatChangesTheDiskIsSurvived$'"+
			" -seed %d -point '%s' -variant %s",
		im.Seed,
		im.Point,
		im.Variant,
	)
}

// takeImage makes an image of a disk.
func takeImage(a *imageSet, disk *vfs.Mem) (*Image, error) {
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
			f, err := takeFileImage(a, h, disk, name)
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

func takeFileImage(a *imageSet, h *xxh3.Hasher, disk *vfs.Mem, name string) (fileImage, error) {
	b, err := vfs.ReadFile(disk, name)
	if err != nil {
		return fileImage{}, err
	}
	f := fileImage{Name: name, Size: int64(len(b))}
	_, _ = h.WriteString(name) // a hash does not fail
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
	for len(b) > 0 {
		n := min(len(b), pageBytes)
		page := a.page(b[:n])
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

// loadImage reads what save wrote, for the world that it is of.
func loadImage(name string, world func(im *Image) (*origin.Web, error)) (*Image, *origin.Web, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	im := new(Image)
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(im); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	w, err := world(im)
	if err != nil {
		return nil, nil, err
	}
	im.log, err = w.ReadLog(bytes.NewReader(im.LogText))
	return im, w, err
}
