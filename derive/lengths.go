package derive

import (
	"cmp"
	"errors"
	"path"
	"slices"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// lengths are the places of records in a file, in order, as the CDXJ index beside the file has them.
type lengths struct{ places []place }

type place struct{ offset, length int64 }

// placesMax is how many places are held: 64 MiB.
const placesMax = 4 << 20

// errIndex says that an index cannot be the one of the file.
var errIndex = errors.New("derive: the index does not fit the file")

// readLengths reads the index beside a file. If there is none, or it cannot be that of the file, nothing is known: then
// the whole file is read.
func readLengths(fsys vfs.FS, source *Source) *lengths {
	l := &lengths{}
	if err := l.read(fsys, source); err != nil {
		return &lengths{}
	}
	return l
}

func (l *lengths) read(fsys vfs.FS, source *Source) (err error) {
	file, err := fsys.Open(path.Join(path.Dir(source.Path), warc.IndexName(source.File)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	err = cdxj.ScanLines(file, func(_ []byte, said *cdxj.Line, damage error) error {
		switch {
		case damage != nil:
			return damage
		case string(said.File) != source.File, said.Length <= 0, said.Length > source.Size-said.Offset,
			len(l.places) == placesMax:
			return errIndex
		}
		l.places = append(l.places, place{said.Offset, said.Length})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(l.places, func(a, b place) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(l.places); i++ {
		if l.places[i].offset-l.places[i-1].offset < l.places[i-1].length {
			return errIndex
		}
	}
	return nil
}

// at returns the length of the record at an offset, 0 if it is not known.
func (l *lengths) at(offset int64) int64 {
	i, found := slices.BinarySearchFunc(l.places, offset, func(p place, offset int64) int {
		return cmp.Compare(p.offset, offset)
	})
	if !found {
		return 0
	}
	return l.places[i].length
}
