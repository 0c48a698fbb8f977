package rebuild

import (
	"fmt"
	"io"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/plural"
)

// Print writes the result as text.
func (r *Result) Print(out io.Writer) {
	fmt.Fprintf(out, "%s: rebuilt from %d archive files\n", r.Dir, r.Files)
	if r.Aside != "" {
		fmt.Fprintf(out, "  the old frontier is in %s\n", r.Aside)
	}
	fmt.Fprintf(out, "  stored: %s, %s, %s for a robots.txt\n", plural.Count(r.Pages, "page"),
		plural.Count(r.Copies, "revisit"), plural.Count(r.Robots, "answer"))
	fmt.Fprintf(out, "  URLs: %s done, %s queued; %s %s kept\n", plural.Number(r.Done),
		plural.Number(r.Queued), plural.Count(r.Seeds, "seed"),
		plural.Verb(r.Seeds, "is", "are"))
	for _, m := range r.Mended {
		fmt.Fprintf(out, "mended: %s/%s:", layout.ArchiveDir, m.File)
		if m.Finished {
			fmt.Fprint(out, " was open, is finished;")
		}
		if m.Lost > 0 {
			fmt.Fprintf(out, " %s taken out, kept in %s;", plural.Count(m.Lost, "byte"), m.Aside)
		}
		if m.Indexed {
			fmt.Fprint(out, " index written;")
		}
		fmt.Fprintf(out, " %s\n", plural.Count(m.Records, "record"))
	}
	for _, d := range r.Damage {
		fmt.Fprintf(out, "damaged: %s: at %d: %s\n", d.File, d.Offset, d.Text)
	}
	if r.Untold > 0 {
		fmt.Fprintf(out, "and %s more\n", plural.Count(r.Untold, "damage"))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	fmt.Fprintf(out, "no request is made before %s\n", r.NotBefore.UTC().Format(time.RFC3339))
}
