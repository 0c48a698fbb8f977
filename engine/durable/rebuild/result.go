package rebuild

import (
	"errors"
	"fmt"
	"io"
	"time"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/plural"
	"orbweaver/warc/repair"
)

// Reasons why nothing was rebuilt, or why a crawl needs a rebuild.
var (
	// ErrNoArchive says that there are no WARC files to rebuild from.
	ErrNoArchive = errors.New("rebuild: no archive to rebuild from")
	// ErrSeedsLost says that the scope depends on the seeds, and that there are none any more.
	ErrSeedsLost = errors.New("rebuild: the scope is about the seeds, and they are lost; give them again")
	// ErrFrontierLost says that a crawl has an archive and no manifest.
	ErrFrontierLost = errors.New(
		"rebuild: there is an archive and no frontier; this rebuilds it: orbweaver fsck --rebuild")
	// ErrUnfinished says that a rebuild began and did not end.
	ErrUnfinished = errors.New("rebuild: the rebuild of the frontier is unfinished; do it again: orbweaver fsck --rebuild")
)

// Options say how to rebuild. The zero value is good.
type Options struct {
	// Progress is called about once a second, by the goroutine that called Rebuild. It may be nil.
	Progress func(Progress)
	// Agent is the agent whose crawl it is, if several agents share it. It gets a new instance number.
	Agent ownership.Agent
	// With are directories of WARC files of other archives, which have the payloads of revisits (--dedup-from).
	With []string
}

// Progress says how far a rebuild is. Each stage reads the archive once.
type Progress struct {
	Stage string // "records", then "links"
	File  string // in the crawl directory
	Bytes int64  // of the archive, read in this stage
	Total int64
}

// Result says what a rebuild found and made.
type Result struct {
	Dir       string          `json:"dir"`
	Aside     string          `json:"aside"`           // where the old frontier is, relative to Dir; "" if there was none
	Files     int             `json:"files"`           // of the archive
	Mended    []repair.Result `json:"mended"`          // of these, those that were changed
	Damage    []Damage        `json:"damage"`          // what is wrong with records, and with those that need them
	Untold    int             `json:"untold"`          // damage beyond the first thousand
	Pages     int64           `json:"pages"`           // stored whole
	Copies    int64           `json:"revisits"`        // pages that are revisits
	Unchanged int64           `json:"unchanged"`       // pages that are revisits since the server said so
	Robots    int64           `json:"robots"`          // answers for a robots.txt
	Done      int64           `json:"done"`            // URLs that have a record and are not tried again
	Queued    int64           `json:"queued"`          // URLs that stored pages link to and that have no record
	Seeds     int             `json:"seeds"`           // taken over or given; they pass admission when the crawl continues
	Notes     []string        `json:"notes,omitempty"` // what is not as it was
	// NotBefore is when the first request may be made.
	NotBefore time.Time `json:"not_before"`
}

// Damage is something that did not stay in the archive.
type Damage struct {
	File   string `json:"file"`   // in the crawl directory
	Offset int64  `json:"offset"` // in the file as it was
	Text   string `json:"text"`
}

// damageMax is how many damages a Result lists. Untold counts the others.
const damageMax = 1000

// note appends a note for the operator.
func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// addDamage notes what did not stay of an archive file.
func (r *Result) addDamage(file string, offset int64, text string) {
	if len(r.Damage) == damageMax {
		r.Untold++
		return
	}
	r.Damage = append(r.Damage, Damage{layout.ArchiveDir + "/" + file, offset, text})
}

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
