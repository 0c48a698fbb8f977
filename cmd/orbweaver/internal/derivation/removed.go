package derivation

import (
	"fmt"

	"orbweaver/derive"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
)

// sayRemoved says where files that were removed here come from.
func (c *Command) sayRemoved(away derive.Removed) string {
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
func (c *Command) errLeftOut(inv *command.Invocation, r *derive.Report) error {
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
