package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"orbweaver/engine/peering/identity"
)

// ReadIdentity reads the file of an agent. It fails with all that is wrong with it. The warnings are for the operator.
func ReadIdentity(name string, now time.Time) (id *identity.Identity, warnings []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, identity.FileMax+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if id, err = identity.Parse(b, now); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if said := id.Warning(now); said != "" {
		warnings = append(warnings, said)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		warnings = append(warnings,
			fmt.Sprintf("%s holds a secret, and others may read or change it (mode %04o): chmod 600 %s", name, mode, name))
	}
	return id, warnings, nil
}

// writeNew writes a file that is there whole or not at all, and replaces one only if told to.
func writeNew(name string, b []byte, mode os.FileMode, force bool) (err error) {
	f, err := os.CreateTemp(
		filepath.Dir(name), filepath.Base(name)+".*",
	) // mode 0600, and never through a link in its place
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if force {
		return os.Rename(f.Name(), name)
	}
	if err = os.Link(f.Name(), name); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: --force replaces it", name)
	}
	return err
}
