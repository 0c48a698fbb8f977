package fsck

import (
	"fmt"
	"io"
	"strings"

	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/plural"
)

// Severity says what a finding means.
type Severity string

// The severities.
const (
	// Error: a promise is broken. The crawl may have lost something or may not go on.
	Error Severity = "error"
	// Note: nothing is broken; it is for information.
	Note Severity = "note"
)

// Finding is one thing that was found.
type Finding struct {
	Area     string   `json:"area"`
	File     string   `json:"file"` // relative to the crawl directory
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
}

// Area says how much of one part was examined.
type Area struct {
	Name    string `json:"name"`
	Checked int64  `json:"checked"` // how many of Unit
	Unit    string `json:"unit"`
	Errors  int    `json:"errors"`
	Notes   int    `json:"notes"`
}

// Report is what a check found. Findings come in the order in which they were made.
type Report struct {
	Dir        string    `json:"dir"`
	Generation uint64    `json:"generation"`
	State      string    `json:"state"`
	Reason     string    `json:"reason"`
	URLsLeft   int64     `json:"urls_left"` // queued, or found and not admitted, at the checkpoint
	Clean      bool      `json:"clean"`     // the crawl had stopped in order
	Errors     int       `json:"errors"`
	Notes      int       `json:"notes"`
	Areas      []Area    `json:"areas"`
	Findings   []Finding `json:"findings"`
	Untold     int       `json:"untold"` // findings beyond the first thousand of an area, counted only
}

// findingsMax is how many findings of one area are kept.
const findingsMax = 1000

// Sound says that no promise is broken.
func (r *Report) Sound() bool { return r.Errors == 0 }

// OnlyIndexes says that nothing is wrong but indexes, which say nothing that the archive does not say.
func (r *Report) OnlyIndexes() bool {
	for _, a := range r.Areas {
		if a.Errors > 0 && a.Name != areaIndex {
			return false
		}
	}
	return r.Errors > 0
}

// AddArea adds an area of another check.
func (r *Report) AddArea(a Area) { r.Areas = append(r.Areas, a) }

func (r *Report) area(name string) *Area {
	for i := range r.Areas {
		if r.Areas[i].Name == name {
			return &r.Areas[i]
		}
	}
	r.Areas = append(r.Areas, Area{Name: name})
	return &r.Areas[len(r.Areas)-1]
}

// Add adds a finding.
func (r *Report) Add(f Finding) {
	a := r.area(f.Area)
	if f.Severity == Error {
		a.Errors++
		r.Errors++
	} else {
		a.Notes++
		r.Notes++
	}
	if a.Errors+a.Notes > findingsMax {
		r.Untold++
		return
	}
	r.Findings = append(r.Findings, f)
}

// Print writes the report for people.
func (r *Report) Print(out io.Writer) {
	stop := "stopped in order"
	if !r.Clean {
		stop = "did not stop in order: when it resumes, it replays the journal since the last checkpoint"
	}
	if r.State == "" {
		fmt.Fprintf(out, "%s: no checkpoint\n", r.Dir)
	} else {
		fmt.Fprintf(out, "%s: %s, checkpoint %d; it %s\n", r.Dir, r.State, r.Generation, stop)
	}
	if more := lifecycle.HowToGoOn(r.Reason, r.URLsLeft); more != "" {
		fmt.Fprintf(out, "  %s: %s\n", r.Reason, more)
	}
	for _, a := range r.Areas {
		verdict := "sound"
		if a.Errors > 0 {
			verdict = strings.ToUpper(plural.Count(a.Errors, "error"))
		}
		unit := a.Unit
		if a.Checked == 1 {
			unit = strings.TrimSuffix(unit, "s")
		}
		fmt.Fprintf(out, "  %-9s %12d %-24s %s\n", a.Name, a.Checked, unit, verdict)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(out, "%s: %s: %s: %s\n", f.Severity, f.Area, f.File, f.Text)
	}
	if r.Untold > 0 {
		fmt.Fprintf(out, "and %d more findings\n", r.Untold)
	}
	if r.Notes > 0 {
		fmt.Fprintf(out, "notes need no action: the crawl repairs what they name when it resumes\n")
	}
	if r.Sound() {
		fmt.Fprintln(out, "sound")
	} else {
		fmt.Fprintf(out, "%s: data is damaged or missing; see 'orbweaver fsck --help' about --rebuild\n",
			plural.Count(r.Errors, "error"))
	}
}
