package warc

import (
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/internal/vfs"
	"orbweaver/warc/fixity"
)

// ReadFacts reads a closed file. Damage is an error that wraps a *warc.Fault.
func ReadFacts(fsys vfs.FS, dir, name string) (facts fixity.File, err error) {
	file, err := fsys.Open(path.Join(dir, name))
	if err != nil {
		return facts, Unopened(name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return facts, fmt.Errorf("warc: %w", err)
	}
	digest := fixity.NewDigest()
	z := NewReader(io.TeeReader(io.NewSectionReader(file, 0, size), digest), ReaderOptions{Name: name})
	defer z.Close()
	err = ScanRecords(z, func(rec *RecordRead) error {
		digest.Records[rec.Type.String()]++
		_, err := io.Copy(io.Discard, rec)
		return err //nolint:wrapcheck // it has the place
	}, StopAtDamage)
	if err == nil {
		err = digest.ReadTo(file, size)
	}
	return fixity.File{Name: name, Bytes: digest.Len(), SHA256: digest.SHA256(), Records: digest.Records}, err
}

// add reads a file and adds its line. damage is what is wrong with a damaged file, which gets no line: a digest would
// say that the bytes are right.
func add(fsys vfs.FS, dir, name string, m *fixity.Manifest) (damage *Fault, err error) {
	facts, err := ReadFacts(fsys, dir, name)
	switch {
	case errors.As(err, &damage):
		return damage, nil
	case err != nil:
		return nil, err
	}
	return nil, m.FileClosed(facts)
}

// CompleteManifest adds the closed files whose lines the manifest lacks, because a kill came between the final name and
// the line. A damaged file gets no line; fsck reports it.
func CompleteManifest(fsys vfs.FS, dir string, m *fixity.Manifest) error {
	files, err := Files(fsys, dir)
	for _, info := range files {
		if err != nil || info.Open || m.Lists(info.Name, info.Serial) {
			continue
		}
		var damage *Fault
		if damage, err = add(fsys, dir, info.Name, m); damage != nil && errors.Is(damage, ErrUnread) {
			err = damage
		}
	}
	return err
}

// CompleteManifestAll adds all closed WARC files in dir, of any crawler, that the manifest lacks. No Writer may use the
// directory. onDamage is called for each damaged file.
func CompleteManifestAll(fsys vfs.FS, dir string, onDamage func(*Fault)) (*fixity.Manifest, error) {
	m, err := fixity.Open(fsys, dir, 0)
	if err != nil {
		return nil, err
	}
	if err := m.ListAll(); err != nil {
		return nil, err
	}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	for _, name := range names {
		if _, isOpen, ok := CutName(name); !ok || isOpen || m.Lists(name, 0) {
			continue
		}
		damage, err := add(fsys, dir, name, m)
		if err != nil {
			return nil, err
		}
		if damage != nil {
			onDamage(damage)
		}
	}
	return m, nil
}
