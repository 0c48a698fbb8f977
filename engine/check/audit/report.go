package audit

import (
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/plural"
)

// Report is what an audit found.
type Report struct {
	Agents []*AgentReport `json:"agents"` // in the order of their names
	Absent []string       `json:"absent"` // agents that an audited agent knew, without an audited directory

	Pages  int64 `json:"pages"`  // URLs with an answer
	Shared int64 `json:"shared"` // of these, those that two agents have, or more

	// Of all agents together.
	Captures        int64 `json:"captures"`
	Bytes           int64 `json:"bytes"`
	Superseded      int64 `json:"superseded"`
	SupersededBytes int64 `json:"superseded_bytes"`
	Misplaced       int64 `json:"misplaced"`
	Stale           int64 `json:"stale"`
	Marked          int64 `json:"marked"`
	Unmarked        int64 `json:"unmarked"`
}

// AgentReport is what an audit found of one agent.
type AgentReport struct {
	ID       string `json:"id"`
	Capacity int    `json:"capacity"`
	Dir      string `json:"dir"`
	Clean    bool   `json:"clean"` // it stopped in order; if not, what it did after its last checkpoint was not looked at
	Pages    int64  `json:"pages"` // that count here

	Captures        int64 `json:"captures"`         // that may be answers, by their status; robots.txt is none
	Bytes           int64 `json:"bytes"`            // of these, in the archive
	Superseded      int64 `json:"superseded"`       // captures of pages that count at another agent
	SupersededBytes int64 `json:"superseded_bytes"` // of these
	Misplaced       int64 `json:"misplaced"`        // captures that are superseded, and not marked
	Stale           int64 `json:"stale"`            // marks of what is not superseded, or by another than they say
	Marked          int64 `json:"marked"`           // misplaced captures that this audit has marked
	Unmarked        int64 `json:"unmarked"`         // stale marks that it has taken away
}

func newReport() *Report { return &Report{Agents: []*AgentReport{}, Absent: []string{}} }

// Sound says that each page counts at one agent.
func (r *Report) Sound() bool { return r.Misplaced+r.Stale == 0 }

// sum adds up what was found of each agent.
func (r *Report) sum() {
	r.Captures, r.Bytes, r.Superseded, r.SupersededBytes = 0, 0, 0, 0
	r.Misplaced, r.Stale, r.Marked, r.Unmarked = 0, 0, 0, 0
	for _, a := range r.Agents {
		r.Captures += a.Captures
		r.Bytes += a.Bytes
		r.Superseded += a.Superseded
		r.SupersededBytes += a.SupersededBytes
		r.Misplaced += a.Misplaced
		r.Stale += a.Stale
		r.Marked += a.Marked
		r.Unmarked += a.Unmarked
	}
}

// Print writes the report for people.
func (r *Report) Print(out io.Writer) {
	fmt.Fprintf(out, "%-12s %12s %12s %14s %12s %14s %10s %8s\n", "agent", "pages", "captures", "bytes", "superseded",
		"bytes", "misplaced", "stale")
	for _, a := range r.Agents {
		fmt.Fprintf(out, "%-12s %12d %12d %14d %12d %14d %10d %8d\n", a.ID, a.Pages, a.Captures, a.Bytes,
			a.Superseded, a.SupersededBytes, a.Misplaced, a.Stale)
	}
	for _, a := range r.Agents {
		if !a.Clean {
			fmt.Fprintf(out,
				"note: %s did not stop in order: what it did after its last checkpoint is not looked at\n", a.Dir)
		}
	}
	if len(r.Absent) > 0 {
		fmt.Fprintf(out, "note: no directory here is that of %s: what they have is not known\n",
			strings.Join(r.Absent, ", "))
	}
	fmt.Fprintf(
		out,
		"%s, %s of them at several agents: %s (%s) %s superseded\n",
		plural.Count(r.Pages, "page"),
		plural.Number(r.Shared),
		plural.Count(r.Superseded, "capture"),
		plural.Bytes(r.SupersededBytes),
		plural.Verb(r.Superseded, "is", "are"),
	)
	if r.Marked+r.Unmarked > 0 {
		fmt.Fprintf(out, "marked now: %s; marks taken away: %s\n", plural.Number(r.Marked), plural.Number(r.Unmarked))
	}
	if r.Sound() {
		fmt.Fprintln(out, "each page counts at one agent")
	} else {
		fmt.Fprintf(out, "misplaced captures: %s; stale marks: %s\n", plural.Number(r.Misplaced), plural.Number(r.Stale))
	}
}
