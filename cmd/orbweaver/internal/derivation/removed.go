package derivation

import (
	"errors"
	"fmt"
	"time"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/derive"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
	"orbweaver/warc"
)

// reading are the flags of a pass over archives.
type reading struct {
	FromStore bool `help:"Also read WARC files that were removed here (--upload-then delete) from their object store, each once and whole. The store may charge for it."`
}

// pass reads archives, with progress, and says which files it leaves out.
func (c *reading) pass(
	inv *command.Invocation, line *console.Output, names []string, o derive.Options,
) (*derive.Report, error) {
	objects := receivers.NewObjects(inv.Context, inv.Version)
	defer objects.Close()
	disk := receivers.Disk()
	if c.FromStore {
		disk.ReadFiles(objects)
	}
	_, unread, err := warc.FindInputs(disk, names...)
	if err != nil {
		return nil, err
	}
	if text := warc.UnreadSentence(unread); text != "" {
		fmt.Fprintln(line, text)
	}
	began := time.Now()
	o.ObjectOf = disk.Object
	o.OnRemoved = func(away derive.Removed) { fmt.Fprintln(line, c.sayRemoved(away)) }
	o.OnFault = func(f *warc.Fault) { fmt.Fprintln(line, f) }
	o.OnProgress = func(p derive.Progress) { line.SetStatus(statusOf(p, time.Since(began))) }
	r, err := derive.Run(inv.Context, disk, names, o)
	if errors.Is(err, derive.ErrNoFiles) || errors.Is(err, derive.ErrSameName) {
		err = command.Misuse(err)
	}
	return r, err
}

// errUnread is that not everything was read; nil if it was.
func (c *reading) errUnread(inv *command.Invocation, r *derive.Report) (err error) {
	if r.Faults > 0 {
		err = fmt.Errorf("%s in the WARC files; everything else was used", plural.Count(r.Faults, "fault"))
	}
	return errors.Join(err, c.errLeftOut(inv, r))
}

// unfinished says how many files a crawl is writing; "" if none.
func unfinished(r *derive.Report) string {
	if r.Unfinished == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s still written by a crawl, and left out\n",
		plural.Count(r.Unfinished, "file"), plural.Verb(r.Unfinished, "is", "are"))
}

// sayRemoved says where files that were removed here come from.
func (c *reading) sayRemoved(away derive.Removed) string {
	what := fmt.Sprintf("%s (%s) %s removed here; the first is %s", plural.Count(away.Files, "WARC file"),
		plural.Bytes(away.Bytes), plural.Verb(away.Files, "was", "were"), away.First)
	if c.FromStore {
		return "reading from the object store: " + what
	}
	return "left out: " + what + "; --from-store reads them there"
}

// leftOutMost is how many files that were left out are listed.
const leftOutMost = 20

// errLeftOut lists the files that were left out, and returns an error if there are any.
func (c *reading) errLeftOut(inv *command.Invocation, r *derive.Report) error {
	if len(r.LeftOut) == 0 {
		return nil
	}
	var bytes int64
	for i := range r.LeftOut {
		bytes += r.LeftOut[i].Bytes
		switch {
		case i >= leftOutMost:
		case c.FromStore:
			fmt.Fprintln(inv.Stderr, "left out:", r.LeftOut[i].Reason)
		default:
			fmt.Fprintf(inv.Stderr, "left out: %s (%s) is in %s\n", r.LeftOut[i].File,
				plural.Bytes(r.LeftOut[i].Bytes), r.LeftOut[i].Object)
		}
	}
	files := fmt.Sprintf("%s (%s)", plural.Count(len(r.LeftOut), "WARC file"), plural.Bytes(bytes))
	if c.FromStore {
		return fmt.Errorf("%s could not be read from the object store; all others were used, "+
			"and the same command tries again", files)
	}
	return fmt.Errorf("%s removed here and left out: --from-store reads what is in the object store, "+
		"'orbweaver upload --fetch-back DIR' gets it back", files+" "+plural.Verb(len(r.LeftOut), "was", "were"))
}
