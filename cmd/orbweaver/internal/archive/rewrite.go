package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/warctool"
)

// rewriting are the flags of repair and recompress.
type rewriting struct {
	Out   string   `help:"The new file: NAME.warc.gz, NAME.warc.zst or NAME.warc. Or a directory, for a NAME.warc.gz of each file. Nothing that exists is replaced." required:"" short:"o" placeholder:"FILE|DIR"`
	Quiet bool     `help:"Show no progress on a terminal."`
	Files []string `arg:"" help:"WARC, ARC or WACZ files of any form, or directories of them; - is standard input." name:"file"`
}

type warcRepairCmd struct {
	rewriting `embed:""`
}

// Help shows examples.
func (*warcRepairCmd) Help() string {
	return `Writes the records that are whole into a new file, each as a member of its own, unchanged. What is not whole
is named on stderr, with file, offset and reason: records that are cut short or whose block digest does not match, and
bytes that are no record. The damaged file stays as it is: keep it.

Exit status: 0 all is whole, 1 something was left out, 2 wrong usage.

Examples:
  orbweaver warc repair damaged.warc.gz -o whole.warc.gz
  orbweaver warc --json repair damaged.warc.gz -o whole.warc.gz`
}

// Run repairs.
func (x *warcRepairCmd) Run(inv *command.Invocation, c *Command) error {
	return x.run(inv, c, warctool.RewriteOptions{CheckDigests: true})
}

type warcRecompressCmd struct {
	rewriting `embed:""`
}

// Help shows examples.
func (*warcRecompressCmd) Help() string {
	return `Writes all records that can be read into a new file, each as a gzip member (or a frame of zstd) of its own. So
an index can give the place of each, and a single one can be read: of a file that is compressed as a whole, an
uncompressed one, one of zstd, or an ARC file, whose records become those of WARC. Blocks stay as they are; digests
are not compared ('orbweaver warc repair' does so). Several files go into one, in their order.

Exit status: 0 all was written, 1 something could not be read and is named, 2 wrong usage.

Examples:
  orbweaver warc recompress whole-file.warc.gz -o single.warc.gz
  orbweaver warc recompress old.arc.gz -o old.warc.gz
  orbweaver warc recompress part-*.warc.gz -o merged.warc.zst
  curl -s https://example.org/a.warc | orbweaver warc recompress - -o a.warc.gz
  orbweaver warc recompress archive -o new/`
}

// Run recompresses.
func (x *warcRecompressCmd) Run(inv *command.Invocation, c *Command) error {
	return x.run(inv, c, warctool.RewriteOptions{})
}

// errOutName says that the form of the new file is not known.
var errOutName = errors.New("--out: the name of the new file ends in .warc.gz, .warc.zst or .warc, which is its " +
	"form; a directory must exist, or end in /")

// run writes the new files.
func (x *rewriting) run(inv *command.Invocation, c *Command, o warctool.RewriteOptions) error {
	disk := receivers.Disk()
	files, err := find(inv, disk, x.Files)
	if err != nil {
		return err
	}
	into, err := x.targets(disk, files)
	if err != nil {
		return command.Misuse(err)
	}
	o.Software, o.Now = "orbweaver/"+inv.Version, time.Now()
	line := console.StartStatus(inv.Stderr, x.Quiet)
	defer line.Close()
	o.OnProgress = func(p warctool.RewriteProgress) {
		line.SetStatus(console.Status{Reason: "reading " + p.File, Numbers: []console.Number{
			{Text: plural.Count(p.Records, "record"), Rank: 0}, {Text: plural.Bytes(p.Read), Rank: 1},
		}})
	}
	damaged := false
	o.OnFault = func(f *warc.Fault) {
		damaged = true
		if c.JSON {
			_ = json.NewEncoder(inv.Stdout).Encode(leftOut{f.File, f.Offset, f.Kind.Error() + ": " + f.What})
			return
		}
		fmt.Fprintln(line, f)
	}
	for _, one := range into {
		o.Compression = one.form
		r, err := warctool.Rewrite(disk, one.out, o, one.from...)
		switch {
		case errors.Is(err, warctool.ErrExists):
			return command.Misuse(err)
		case errors.Is(err, warctool.ErrNoRecord) && len(into) > 1: // its faults are said, and others may have some
			damaged = true
			continue
		case err != nil:
			return err
		case c.JSON:
			err = json.NewEncoder(inv.Stdout).Encode(r)
		default:
			_, err = fmt.Fprintf(inv.Stdout, "%s: %s, %s, %s mended, %s left out\n", command.PlainText(r.File),
				plural.Count(r.Records, "record"), plural.Bytes(r.Bytes), plural.Count(r.Mended, "fault"),
				plural.Count(r.LeftOut, "place"))
		}
		if err != nil {
			return err
		}
	}
	if damaged {
		return fmt.Errorf("%w: what was left out is named above", warctool.ErrFaults)
	}
	return nil
}

// leftOut is a place of a file that is in no new file.
type leftOut struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
}

// target is a file to write.
type target struct {
	out  string
	form warc.Compression
	from []string
}

// targets returns what to write.
func (x *rewriting) targets(disk vfs.FS, files []string) (all []target, err error) {
	out := filepath.ToSlash(x.Out)
	_, err = disk.List(out)
	if err != nil && !strings.HasSuffix(out, "/") {
		form, err := formOf(out)
		return []target{{out, form, files}}, err
	}
	if err := disk.MkdirAll(out); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	seen := map[string]string{}
	for _, name := range files {
		stem, _, ok := warc.CutName(path.Base(name))
		if !ok {
			stem = path.Base(name)
		}
		into := path.Join(out, stem+".warc.gz")
		if _, twice := seen[into]; twice { // of several WACZ files
			into = path.Join(out, path.Base(path.Dir(name))+"-"+stem+".warc.gz")
		}
		if other, twice := seen[into]; twice {
			return nil, fmt.Errorf("--out: %s and %s would both be %s", other, name, into)
		}
		seen[into] = name
		all = append(all, target{into, warc.Gzip, []string{name}})
	}
	return all, nil
}

// formOf returns the form of a new file by its name.
func formOf(name string) (warc.Compression, error) {
	switch base := path.Base(name); {
	case strings.HasSuffix(base, ".warc.gz"):
		return warc.Gzip, nil
	case strings.HasSuffix(base, ".warc.zst"):
		return warc.Zstd, nil
	case strings.HasSuffix(base, ".warc"):
		return warc.None, nil
	}
	return 0, errOutName
}
