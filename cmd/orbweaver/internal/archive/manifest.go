package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// ManifestCommand is the command manifest.
type ManifestCommand struct {
	JSON    bool   `help:"Print the lines of manifest.jsonl: name, bytes, SHA-256, records by type."`
	SignKey string `help:"PEM file of an ed25519 key: sign manifest.jsonl, into manifest.jsonl.sig beside it." placeholder:"FILE"`
	Dir     string `arg:"" exists:"directory" help:"Directory of a crawl, or of WARC files."`
}

// errDamaged is returned if damaged files have no line.
var errDamaged = errors.New("damaged files have no line in the manifest")

// Help shows examples.
func (*ManifestCommand) Help() string {
	return `A crawl keeps its manifest up to date. Files that it lacks, such as those of an older version, are read and
added, unless the crawl runs. The output is what sha256sum -c reads in the directory of the WARC files.

Examples:
  orbweaver manifest crawl
  (cd crawl/warc && sha256sum -c manifest-sha256.txt)
  openssl genpkey -algorithm ed25519 -out key.pem
  orbweaver manifest --sign-key key.pem crawl`
}

// Run completes, signs and prints.
func (x *ManifestCommand) Run(inv *command.Invocation) error {
	disk := vfs.Disk()
	dir := x.Dir
	if _, err := disk.List(path.Join(dir, layout.ArchiveDir)); err == nil {
		dir = path.Join(dir, layout.ArchiveDir)
	} else if _, err := disk.List(dir); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	list, err := x.complete(inv, disk, dir)
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	if path.Base(dir) == layout.ArchiveDir {
		if err := sayRemoved(inv, disk, path.Dir(dir)); err != nil {
			return err
		}
	}
	write := func() error { return fixity.WriteSums(inv.Stdout, list.Files) }
	if x.JSON {
		write = func() error { return fixity.WriteLines(inv.Stdout, list) }
	}
	return errors.Join(write(), err)
}

// sayRemoved says how many of the files are not here.
func sayRemoved(inv *command.Invocation, disk vfs.FS, crawl string) error {
	removed, err := receipts.Removed(disk, crawl)
	if n := len(removed); n > 0 {
		fmt.Fprintf(inv.Stderr, "%s of these %s sent and removed here; the first is %s\n", plural.Count(n, "file"),
			plural.Verb(n, "was", "were"), removed[0].Place())
	}
	return err
}

// complete returns the manifest in dir. It is completed and signed, unless the crawl runs.
func (x *ManifestCommand) complete(inv *command.Invocation, disk vfs.FS, dir string) (fixity.List, error) {
	var key []byte
	if x.SignKey != "" {
		var err error
		if key, err = vfs.ReadFile(disk, x.SignKey); err != nil {
			return fixity.List{}, fmt.Errorf("--sign-key: %w", err)
		}
	}
	lock := path.Join(x.Dir, layout.LockFile)
	if _, err := disk.Size(lock); err == nil {
		held, err := disk.Lock(lock)
		if errors.Is(err, vfs.ErrLocked) {
			return x.running(inv, disk, dir)
		}
		if err != nil {
			return fixity.List{}, fmt.Errorf("manifest: %w", err)
		}
		defer func() { _ = held.Close() }()
	}
	var faults error
	m, err := warc.CompleteManifestAll(disk, dir, func(f *warc.Fault) {
		fmt.Fprintln(inv.Stderr, f)
		faults = errDamaged
	})
	if err != nil {
		return fixity.List{}, err
	}
	if x.SignKey != "" {
		signer, err := fixity.ReadPrivateKey(key)
		if err != nil {
			return fixity.List{}, command.Misuse(fmt.Errorf("--sign-key: %w", err))
		}
		if err := fixity.Sign(disk, dir, signer); err != nil {
			return fixity.List{}, err
		}
	}
	return fixity.List{Files: m.Files()}, faults
}

// running returns the manifest of a running crawl as it is.
func (x *ManifestCommand) running(inv *command.Invocation, disk vfs.FS, dir string) (fixity.List, error) {
	if x.SignKey != "" {
		return fixity.List{}, errors.New("--sign-key: the crawl runs, and changes its manifest: sign it later")
	}
	f, err := disk.Open(path.Join(dir, fixity.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return fixity.List{}, errors.New("the running crawl has no manifest: it was begun by an older version")
	}
	if err != nil {
		return fixity.List{}, fmt.Errorf("manifest: %w", err)
	}
	list, err := fixity.Read(f)
	if list.FirstSerial > 0 {
		fmt.Fprintf(inv.Stderr, "files before serial number %05d are missing: they are of an older version\n",
			list.FirstSerial)
	}
	return list, errors.Join(err, f.Close())
}
